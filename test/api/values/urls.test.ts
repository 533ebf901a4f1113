import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { order as orderToCreate, post } from '../../fixtures/order-to-create.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, changeAnswer, sandbox } = waybill;
afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const otherUrls = [
  'javascript:alert(document.domain)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'ftp://shop.example/orders/1',
  'https:orders/1',
  'shop.example/orders/1',
];

describe('a URL of the REST service', () => {
  const query = '{ order(id: "ca2481") { referenceUrl } shipment(id: "ca2036") { label { url } } }';
  const changeUrls = (url: unknown) => {
    changeAnswer('/v1/orders/ca2481', { referenceUrl: url });
    changeAnswer('/v1/shipments/ca2036', { labelUrl: url });
  };
  const shown = (url: string | null) => ({ order: { referenceUrl: url }, shipment: { label: { url } } });

  test.each(otherUrls)('causes an error at its field if it is not of http or https: %j', async (url) => {
    changeUrls(url);
    const { data, errors } = await ask(query);
    expect(data).toEqual(shown(null));
    expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]).sort()).toEqual([
      ['order.referenceUrl', 'UPSTREAM_INVALID_RESPONSE'],
      ['shipment.label.url', 'UPSTREAM_INVALID_RESPONSE'],
    ]);
  });

  test.each(['', null, undefined])('is null without an error if it is %j', async (url) => {
    changeUrls(url);
    const { data, errors } = await ask(query);
    expect({ data, errors }).toEqual({ data: shown(null), errors: undefined });
  });

  test.each(['https://shop.example/a?b=c#d', 'HTTP://shop.example', 'http://127.0.0.1:8080/ñ'])(
    'is shown unchanged: %s',
    async (url) => {
      changeUrls(url);
      const { data, errors } = await ask(query);
      expect({ data, errors }).toEqual({ data: shown(url), errors: undefined });
    },
  );
});

describe('a URL of a client', () => {
  const query = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }';

  test.each([...otherUrls, ''])(
    'is refused without a call if it is not of http or https: %j',
    async (url) => {
      const { status, errors, calls } = await ask(query, { input: { ...orderToCreate, referenceUrl: url } });
      expect([status, calls]).toEqual([400, []]);
      expect(errors).toMatchObject([
        {
          message: expect.stringContaining(
            `Expected an absolute URL that starts with http:// or https://, but got ${JSON.stringify(url)}.`,
          ),
          extensions: { code: 'BAD_USER_INPUT' },
        },
      ]);
    },
  );

  test.each(['https://shop.example/orders/1', 'http://shop.example/ñ', 'HTTPS://shop.example'])(
    'is stored unchanged: %s',
    async (referenceUrl) => {
      const { errors, calls } = await ask(query, { input: { ...orderToCreate, referenceUrl } });
      expect([errors, calls]).toEqual([undefined, [post]]);
      expect(sandbox.requests.entries()).toMatchObject([{ body: { referenceUrl } }]);
    },
  );
});
