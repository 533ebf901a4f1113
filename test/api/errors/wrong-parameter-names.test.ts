import { describe, expect, test } from 'vitest';
import { startApp } from '../../fixtures/start-app.ts';

const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({
    name: `orders/${from + index}`,
    status: 'DELIVERED',
    recipient: { firstName: 'Pedro' },
  }));

/** A service that reads `limit`, `cursor` and `state`, and ignores or refuses all other parameters. */
const start = (environment: Record<string, string>, isStrict = false) =>
  startApp((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://rest.test');
    const known = ['limit', 'cursor', 'state'];
    const unknown = [...searchParams.keys()].filter((name) => !known.includes(name));
    response.setHeader('content-type', 'application/json');
    if (isStrict && unknown.length > 0) {
      response.writeHead(400).end(JSON.stringify({ message: `unknown parameter ${unknown.join(', ')}` }));
      return;
    }
    const start = Number(searchParams.get('cursor') ?? 0);
    const state = searchParams.get('state');
    const all = rows(300).filter(({ status }) => state === null || state.split(',').includes(status));
    const size = Number(searchParams.get('limit') ?? 100);
    const nextPageToken = start + size < all.length ? String(start + size) : '';
    response.end(JSON.stringify({ orders: all.slice(start, start + size), nextPageToken }));
  }, environment);

const right = { PAGE_SIZE_PARAMETER: 'limit', PAGE_TOKEN_PARAMETER: 'cursor', STATUS_PARAMETER: 'state' };
const page = (args: string) => `{ orders(${args}) { nodes { id } pageInfo { endCursor } } }`;

const endCursorOf = (data: unknown) =>
  (data as { orders: { pageInfo: { endCursor: string } } }).orders.pageInfo.endCursor;

describe('a wrong parameter name', () => {
  test('in STATUS_PARAMETER causes an error instead of wrong rows', async () => {
    await using waybill = await start({ ...right, STATUS_PARAMETER: 'status' });
    const { data, errors } = await waybill.ask(page('first: 5, status: [NEW]'));
    expect(data).toEqual({ orders: null });
    expect(errors).toMatchObject([
      { message: expect.stringContaining('STATUS_PARAMETER'), code: 'UPSTREAM_INVALID_RESPONSE' },
    ]);
    expect(waybill.calls()).toEqual(['GET /v1/orders?limit=5&status=NEW']);
  });

  test('in PAGE_TOKEN_PARAMETER causes an error instead of repeated rows', async () => {
    await using waybill = await start({ ...right, PAGE_TOKEN_PARAMETER: 'pageToken' });
    const { data } = await waybill.ask(page('first: 5'));
    const after = endCursorOf(data);
    const { data: second, errors } = await waybill.ask(page(`first: 5, after: "${after}"`));
    expect(second).toEqual({ orders: null });
    expect(errors).toMatchObject([
      { message: expect.stringContaining('PAGE_TOKEN_PARAMETER'), code: 'UPSTREAM_INVALID_RESPONSE' },
    ]);
    expect(waybill.calls()).toEqual([
      'GET /v1/orders?limit=5',
      'GET /v1/orders?limit=5&pageToken=5',
      'GET /v1/orders?limit=5',
    ]);
  });

  test.each([
    ['STATUS_PARAMETER', 'first: 5, status: [NEW]'],
    ['PAGE_SIZE_PARAMETER', 'first: 5'],
  ])('in %s causes an error if the REST service rejects the parameter', async (setting, args) => {
    await using waybill = await start({ ...right, [setting]: 'other' }, true);
    const { errors } = await waybill.ask(page(args));
    expect(errors).toMatchObject([
      {
        message: `GET /v1/orders returned 400: The REST service has never accepted a call with these parameters. Check the setting ${setting}. The REST service says: unknown parameter other`,
        code: 'UPSTREAM_INVALID_RESPONSE',
      },
    ]);
  });
});

test.each([
  ['no page token', null],
  ['an empty page token', ''],
])('a made-up cursor with %s and a page before is INVALID_CURSOR', async (_what, pageToken) => {
  await using waybill = await start(right);
  const { data } = await waybill.ask(page('first: 5'));
  const [digest] = JSON.parse(Buffer.from(endCursorOf(data), 'base64url').toString());
  // The first row of the list, as if REST had ignored the page token.
  const fields = [digest, pageToken, 0, 0, null, 'orders/0'];
  const after = Buffer.from(JSON.stringify(fields)).toString('base64url');
  const { errors } = await waybill.ask(page(`first: 5, after: "${after}"`));
  expect(errors).toMatchObject([{ code: 'INVALID_CURSOR' }]);
  expect(waybill.calls()).toEqual(['GET /v1/orders?limit=5']);
});

test('correct parameter names cause no error', async () => {
  await using waybill = await start(right, true);
  const { data } = await waybill.ask(page('first: 1'));
  const after = endCursorOf(data);
  const { errors } = await waybill.ask(page(`first: 1, after: "${after}", status: []`));
  expect(errors).toBeUndefined();
});
