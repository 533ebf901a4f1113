import { describe, expect, test } from 'vitest';
import type { RestApi } from '../../src/rest/api.ts';
import type { Page } from '../../src/rest/api-types.ts';
import type { CallContext } from '../../src/rest/client/call-context.ts';
import { InvalidResponseError } from '../../src/rest/errors.ts';
import { answerJson, errorOf, startRestClient } from '../fixtures/rest-service.ts';
import { shapeless } from './bodies.ts';

describe('a response of the wrong form to a read', () => {
  test.each(shapeless)('for a record: %s', async (_what, json) => {
    await using rest = await startRestClient(answerJson(json));
    const { api } = rest;
    for (const call of [
      () => api.getOrder('7', rest.callContext()),
      () => api.getOrganization(rest.callContext()),
    ]) {
      expect(await errorOf(call())).toBeInstanceOf(InvalidResponseError);
    }
  });

  test('for a record: another record', async () => {
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
    ['a list without its wrapper', []],
    ['no list', {}],
    ['the list of another resource', { shipments: [] }],
    ['an object in place of the list', { orders: {} }],
    ['null in place of the list', { orders: null }],
    ['a token that is not a text', { orders: [], nextPageToken: 7 }],
  ])('for a list: %s', async (_what, json) => {
    await using rest = await startRestClient(answerJson(json));
    const error = await errorOf(rest.api.listOrders({ pageSize: 1 }, rest.callContext()));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toMatch(/^GET \/v1\/orders returned /);
  });

  test('an invalid row of a list is an error at its position', async () => {
    const broken = [null, 7, { id: 'orders/4' }, 'orders/5', [], { name: 'quotes/7' }];
    const rows = [{ name: 'orders/1' }, ...broken, { name: 'orders/7' }];
    await using rest = await startRestClient(answerJson({ orders: rows, nextPageToken: 'more' }));
    const page = await rest.api.listOrders({ pageSize: 7 }, rest.callContext());
    expect(named(page)).toEqual([
      'orders/1',
      'GET /v1/orders returned no record of orders in row 1',
      'GET /v1/orders returned no record of orders in row 2',
      'GET /v1/orders returned no record of orders in row 3',
      'GET /v1/orders returned no record of orders in row 4',
      'GET /v1/orders returned no record of orders in row 5',
      'GET /v1/orders returned no record of orders in row 6: its name is not "orders/<identifier>"',
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
  ])('a row of %s with a name of another form is an invalid row', async (key, name, list) => {
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

  test.each(['organizations/mine', 'foo', 'orders/a'])('for a record: the name %s', async (name) => {
    await using rest = await startRestClient(answerJson({ name }));
    expect(await errorOf(rest.api.getOrganization(rest.callContext()))).toBeInstanceOf(InvalidResponseError);
  });

  test.each([[{}], [{ nextPageToken: '' }], [{ nextPageToken: null }]])(
    'the last page has no token: %j',
    async (token) => {
      await using rest = await startRestClient(answerJson({ orders: [], ...token }));
      expect(await rest.api.listOrders({ pageSize: 1 }, rest.callContext())).toEqual({
        rows: [],
        nextPageToken: undefined,
      });
    },
  );

  test('unknown fields are kept', async () => {
    const order = { name: 'orders/7', colour: 'blue', constructor: 'x' };
    await using rest = await startRestClient(answerJson(order));
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual(order);
  });
});

function named(page: Page<{ name: string }>): string[] {
  return page.rows.map((row) => (row instanceof InvalidResponseError ? row.message : row.name));
}
