import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Client, newOrder, openSandbox, smallSeed } from '../client.ts';

let client: Client;
beforeEach(async () => {
  client = await openSandbox({ seed: smallSeed });
});
afterEach(() => client.close());

const mine = (token: string) => client.get('/v1/organizations/mine', token);
const statusOf = async (token: string) => (await mine(token)).status;

test('both tokens of the first merchant belong to one organization', async () => {
  const { first, firstRefreshed, second } = client.sandbox.tokens;
  expect(new Set([first, firstRefreshed, second]).size).toBe(3);
  expect((await mine(first)).body.name).toBe('organization/first-one');
  expect((await mine(firstRefreshed)).body).toEqual((await mine(first)).body);
  expect((await mine(second)).body.name).toBe('organization/second-one');
});

test('both tokens of a merchant can read and change the same order', async () => {
  const { first, firstRefreshed, second } = client.sandbox.tokens;
  const order = (await client.post('/v1/orders', newOrder, first)).body;
  expect((await client.get(`/v1/${order.name}`, firstRefreshed)).body).toEqual(order);
  const update = { order: { notes: 'Timbre dos veces' }, updateMask: ['notes'] };
  expect((await client.patch(`/v1/${order.name}`, update, firstRefreshed)).status).toBe(200);
  expect((await client.get(`/v1/${order.name}`, first)).body.notes).toBe('Timbre dos veces');
  expect((await client.get(`/v1/${order.name}`, second)).status).toBe(404);
});

test('only the ended token is rejected with 401', async () => {
  const { sandbox } = client;
  const { first, firstRefreshed, second } = sandbox.tokens;
  expect(await statusOf(first)).toBe(200);
  sandbox.endToken(first);
  const refused = await mine(first);
  expect([refused.status, refused.body.error.message]).toEqual([401, 'This bearer token has ended']);
  expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="sandbox"');
  expect(await statusOf(firstRefreshed)).toBe(200);
  expect(await statusOf(second)).toBe(200);
});

test('a write with an ended token is not executed', async () => {
  const { sandbox } = client;
  const { first, firstRefreshed } = sandbox.tokens;
  sandbox.endToken(first);
  expect((await client.post('/v1/orders', newOrder, first)).status).toBe(401);
  expect((await client.get('/v1/orders', firstRefreshed)).body.orders).toEqual([]);
});

test('ending a token twice causes no error', () => {
  const { sandbox } = client;
  sandbox.endToken(sandbox.tokens.first);
  expect(() => sandbox.endToken(sandbox.tokens.first)).not.toThrow();
});

test.each(['first', 'second'] as const)(
  'issueToken for the %s token returns a token of the same merchant',
  async (name) => {
    const { sandbox } = client;
    const token = sandbox.tokens[name];
    const issued = sandbox.issueToken(token);
    expect(Object.values(sandbox.tokens)).not.toContain(issued);
    expect((await mine(issued)).body).toEqual((await mine(token)).body);
  },
);

test('issueToken returns a new token each time, even for an ended token', async () => {
  const { sandbox } = client;
  const { first } = sandbox.tokens;
  sandbox.endToken(first);
  const tokens = [sandbox.issueToken(first), sandbox.issueToken(first)];
  expect(new Set([...tokens, ...Object.values(sandbox.tokens)]).size).toBe(5);
  expect(await Promise.all([first, ...tokens].map(statusOf))).toEqual([401, 200, 200]);
});

test('endToken and issueToken reject an unknown token', () => {
  expect(() => client.sandbox.endToken('stranger')).toThrow(RangeError);
  expect(() => client.sandbox.issueToken('stranger')).toThrow(RangeError);
});

test('page tokens and label URLs work with any token of the merchant', async () => {
  await using seeded = await openSeeded();
  const { sandbox, get } = seeded;
  const { first, firstRefreshed } = sandbox.tokens;
  const paths = ['/v1/orders?pageSize=2', '/v1/shipments?pageSize=2', '/v1/locations?pageSize=2'];
  const pageTokens = await Promise.all(
    paths.map(async (path) => (await get(path, first)).body.nextPageToken),
  );
  const nextPages = (token: string) =>
    Promise.all(
      paths.map(async (path, index) => (await get(`${path}&pageToken=${pageTokens[index]}`, token)).body),
    );
  const { labelUrl } = (await get('/v1/shipments/ca0001', first)).body;
  const expected = await nextPages(first);
  sandbox.endToken(first);
  expect(await nextPages(firstRefreshed)).toEqual(expected);
  expect(expected).toMatchObject([
    { orders: [{ name: 'orders/ca2498' }, {}] },
    { shipments: [{}, {}] },
    { locations: [{}, {}] },
  ]);
  expect((await fetch(labelUrl)).status).toBe(200);
  expect((await get('/v1/shipments/ca0001/label', first)).status).toBe(401);
});

async function openSeeded() {
  const seeded = await openSandbox();
  return { ...seeded, [Symbol.asyncDispose]: () => seeded.close() };
}

describe('the token endpoints', () => {
  const post = async (path: string, token?: string) => {
    const response = await fetch(client.sandbox.url + path, {
      method: 'POST',
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });
    return [response.status, await response.json()];
  };

  test('end a token and issue the next one', async () => {
    const { first } = client.sandbox.tokens;
    expect(await post('/sandbox/tokens/end', first)).toEqual([200, { token: first, ended: true }]);
    expect(await statusOf(first)).toBe(401);
    const [status, issued] = await post('/sandbox/tokens/issue', first);
    expect([status, issued]).toEqual([201, { token: expect.any(String), ended: false }]);
    expect((await mine(issued.token)).body.name).toBe('organization/first-one');
    expect(await post('/sandbox/tokens/end', first)).toMatchObject([401, {}]);
  });

  test.each(['end', 'issue'])(
    'POST /sandbox/tokens/%s rejects a missing or unknown token',
    async (action) => {
      expect(await post(`/sandbox/tokens/${action}`)).toMatchObject([
        401,
        { error: { message: 'A bearer token is required' } },
      ]);
      expect(await post(`/sandbox/tokens/${action}`, 'stranger')).toMatchObject([
        401,
        { error: { message: 'This bearer token is unknown' } },
      ]);
    },
  );
});
