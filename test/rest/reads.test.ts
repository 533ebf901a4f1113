import { describe, expect, test } from 'vitest';
import type { RestApi } from '../../src/rest/api.ts';
import type { Page } from '../../src/rest/api-types.ts';
import type { CallContext } from '../../src/rest/client/call-context.ts';
import { InvalidResponseError } from '../../src/rest/errors.ts';
import { answerJson, errorOf, startRestClient } from '../fixtures/rest-service.ts';
import { shapeless } from './bodies.ts';

describe('a malformed response to a read', () => {
  test.each(shapeless)('is rejected if a record is expected: %s', async (_what, json) => {
    await using rest = await startRestClient(answerJson(json));
    const { api } = rest;
    for (const call of [
      () => api.getOrder('7', rest.callContext()),
      () => api.getOrganization(rest.callContext()),
    ]) {
      expect(await errorOf(call())).toBeInstanceOf(InvalidResponseError);
    }
  });

  test('is rejected if the record is not the requested one', async () => {
    await using rest = await startRestClient(answerJson({ name: 'orders/8' }));
    const { api } = rest;
    for (const call of [
      () => api.getOrder('7', rest.callContext()),
      () => api.getShipment('8', rest.callContext()),
      () => api.getQuote('8', rest.callContext()),
    ]) {
      expect(await errorOf(call())).toBeInstanceOf(InvalidResponseError);
    }
  });

  test.each([
    ['null', null],
    ['an array without a wrapper object', []],
    ['an object without a list', {}],
    ['the list of another resource', { shipments: [] }],
    ['an object instead of the list', { orders: {} }],
    ['null instead of the list', { orders: null }],
    ['a page token that is not a string', { orders: [], nextPageToken: 7 }],
  ])('is rejected if a list is expected: %s', async (_what, json) => {
    await using rest = await startRestClient(answerJson(json));
    const error = await errorOf(rest.api.listOrders({ pageSize: 1 }, rest.callContext()));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toMatch(/^GET \/v1\/orders returned /);
  });

  test.each(['organizations/mine', 'foo', 'orders/a'])(
    'is rejected if an organization is expected: the name %s',
    async (name) => {
      await using rest = await startRestClient(answerJson({ name }));
      expect(await errorOf(rest.api.getOrganization(rest.callContext()))).toBeInstanceOf(
        InvalidResponseError,
      );
    },
  );
});

test('an invalid row of a list is an error at its position', async () => {
  const broken = [null, 7, { id: 'orders/4' }, 'orders/5', [], { name: 'quotes/7' }];
  const rows = [{ name: 'orders/1' }, ...broken, { name: 'orders/7' }];
  await using rest = await startRestClient(answerJson({ orders: rows, nextPageToken: 'more' }));
  const page = await rest.api.listOrders({ pageSize: 7 }, rest.callContext());
  expect(named(page)).toEqual([
    'orders/1',
    'GET /v1/orders returned an invalid record of orders in row 1',
    'GET /v1/orders returned an invalid record of orders in row 2',
    'GET /v1/orders returned an invalid record of orders in row 3',
    'GET /v1/orders returned an invalid record of orders in row 4',
    'GET /v1/orders returned an invalid record of orders in row 5',
    'GET /v1/orders returned an invalid record of orders in row 6: its name is not "orders/<identifier>"',
    'orders/7',
  ]);
  expect(page.nextPageToken).toBe('more');
});

const message = 'channels/1/conversations/17/messages/m1';
test.each<[string, string, (api: RestApi, callContext: CallContext) => Promise<Page<{ name: string }>>]>([
  ['orders', 'orders/a', (api, callContext) => api.listOrders({ pageSize: 1 }, callContext)],
  ['shipments', 'shipments/a', (api, callContext) => api.listShipments({ pageSize: 1 }, callContext)],
  ['origins', 'origins/a', (api, callContext) => api.listOrigins({ pageSize: 1 }, callContext)],
  ['locations', 'locations/a', (api, callContext) => api.listLocations({ pageSize: 1 }, callContext)],
  ['channels', 'channels/a', (api, callContext) => api.listChannels({ pageSize: 1 }, callContext)],
  [
    'messages',
    message,
    (api, callContext) => api.listMessages({ channel: '1', conversation: '17', pageSize: 1 }, callContext),
  ],
])('a row of %s with a malformed name is invalid', async (key, name, list) => {
  const foreign = ['wrong/a', `${key}/../a`, `${key}/`, 'a', '', `${name}/b`, `${message}/`, `/${name}`];
  const rows = [...foreign, name].map((each) => ({ name: each }));
  await using rest = await startRestClient(answerJson({ [key]: rows }));
  const page = await list(rest.api, rest.callContext());
  expect(page.rows.slice(0, -1).every((row) => row instanceof InvalidResponseError)).toBe(true);
  expect(page.rows.at(-1)).toEqual({ name });
});

test('templates may have any name', async () => {
  const rows = [{ name: 'wrong/a' }, { name: '..' }, { name: '' }];
  await using rest = await startRestClient(answerJson({ templates: rows }));
  const page = await rest.api.listTemplates({ channel: '1', pageSize: 1 }, rest.callContext());
  expect(page.rows).toEqual(rows);
});

test.each([[{}], [{ nextPageToken: '' }], [{ nextPageToken: null }]])(
  'a page without a page token is the last page: %j',
  async (token) => {
    await using rest = await startRestClient(answerJson({ orders: [], ...token }));
    expect(await rest.api.listOrders({ pageSize: 1 }, rest.callContext())).toMatchObject({
      rows: [],
      nextPageToken: undefined,
    });
  },
);

test('unknown fields of a record are preserved', async () => {
  const order = { name: 'orders/7', colour: 'blue', constructor: 'x' };
  await using rest = await startRestClient(answerJson(order));
  expect(await rest.api.getOrder('7', rest.callContext())).toEqual(order);
});

function named(page: Page<{ name: string }>): string[] {
  return page.rows.map((row) => (row instanceof InvalidResponseError ? row.message : row.name));
}
