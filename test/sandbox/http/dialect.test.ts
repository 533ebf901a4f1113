import { afterEach, describe, expect, test } from 'vitest';
import type { Quirks } from '../../../src/sandbox/sandbox.ts';
import { type Client, newOrder, openSandbox, smallSeed } from '../client.ts';

let client: Client;
afterEach(() => client.close());

const names = { pageSize: 'limit', pageToken: 'cursor', status: 'state', search: 'q', query: 'q' };

async function open(quirks: Partial<Quirks>) {
  client = await openSandbox({ seed: smallSeed, quirks });
}

async function createOrders() {
  for (const referenceId of ['first', 'second'])
    await client.post('/v1/orders', { ...newOrder, referenceId });
}

test('parameterNames renames the parameters of all lists', async () => {
  await open({ parameterNames: names });
  await createOrders();
  const { body } = await client.get('/v1/orders?limit=1');
  expect(body.orders).toMatchObject([{ referenceId: 'second' }]);
  const read = async (query: string) => (await client.get(`/v1/${query}`)).body;
  expect((await read(`orders?limit=1&cursor=${body.nextPageToken}`)).orders[0].referenceId).toBe('first');
  expect((await read('orders?state=CANCELLED')).orders).toEqual([]);
  expect((await read('orders?q=first')).orders).toHaveLength(1);
  expect((await read('locations?q=huila')).locations).toHaveLength(1);
});

describe('the default name of a renamed parameter', () => {
  test('is rejected', async () => {
    await open({ parameterNames: names });
    const { status, body } = await client.get('/v1/orders?pageSize=1');
    expect([status, body.error.details]).toEqual([
      400,
      [{ field: 'pageSize', message: 'is not a known field' }],
    ]);
  });

  test('is ignored if unknownParameters is "ignored"', async () => {
    await open({ parameterNames: names, unknownParameters: 'ignored' });
    await createOrders();
    expect((await client.get('/v1/orders?pageSize=1&nonsense=1')).body.orders).toHaveLength(2);
  });
});

test('an error contains the new name of a renamed parameter', async () => {
  await open({ parameterNames: names });
  const { body } = await client.get('/v1/orders?limit=none');
  expect(body.error.details).toMatchObject([{ field: 'limit' }]);
});

test.each([
  ['google', 'application/json', { error: { code: 404, status: 'NOT_FOUND', details: [] } }],
  ['problem', 'application/problem+json', { title: 'NOT_FOUND', status: 404, errors: [] }],
  ['flat', 'application/json', { code: 'NOT_FOUND', errors: [] }],
  ['text', 'text/plain', 'orders/none does not exist'],
] as const)('errorBody "%s" sets the format of errors', async (errorBody, type, expected) => {
  await open({ errorBody });
  const response = await fetch(`${client.sandbox.url}/v1/orders/none`, {
    headers: { authorization: `Bearer ${client.sandbox.tokens.first}` },
  });
  expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
  const text = await response.text();
  if (typeof expected === 'string') expect(text).toBe(expected);
  else expect(JSON.parse(text)).toMatchObject(expected);
});

test('errorBody "problem" adds a pointer for each invalid field', async () => {
  await open({ errorBody: 'problem' });
  const { body } = await client.get('/v1/orders?pageSize=0');
  expect(body.errors).toEqual([{ pointer: '#/pageSize', detail: 'must be at least 1' }]);
});

test.each([
  ['empty', { orders: [], nextPageToken: '' }],
  ['null', { orders: [], nextPageToken: null }],
  ['absent', { orders: [] }],
] as const)('lastPageToken "%s" sets the nextPageToken of the last page', async (lastPageToken, expected) => {
  await open({ lastPageToken });
  expect((await client.get('/v1/orders')).body).toEqual(expected);
});

test('a prefix is prepended to all paths', async () => {
  await open({ prefix: '/api/rest' });
  const { url, tokens } = client.sandbox;
  expect(new URL(url).pathname).toBe('/api/rest');
  expect((await client.get('/v1/orders')).status).toBe(200);
  const response = await fetch(`${new URL(url).origin}/v1/orders`, {
    headers: { authorization: `Bearer ${tokens.first}` },
  });
  expect(response.status).toBe(404);
});
