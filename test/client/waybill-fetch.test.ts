import { afterEach, expect, test, vi } from 'vitest';
import { createWaybillFetch } from '../../client/waybill-fetch.ts';

afterEach(() => vi.unstubAllGlobals());

const refused = {
  message: 'The token has ended.',
  extensions: { code: 'UNAUTHENTICATED', retryable: false },
};

/** Sends a body to a server that first gives this answer, and then one without errors. */
async function send(body: object, first: object) {
  const answers = [first, { data: { done: true } }];
  const sent = vi.fn(async () => Response.json(answers.shift()));
  vi.stubGlobal('fetch', sent);
  const refresh = vi.fn(async () => {});
  const waybillFetch = createWaybillFetch({ token: () => 'token', refresh });
  const response = await waybillFetch('http://shop.example/graphql', {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return {
    sent: sent.mock.calls.length,
    refreshes: refresh.mock.calls.length,
    answer: await response.json(),
  };
}

const mutation = 'mutation ($inputs: [CreateOrderInput!]!) { createOrders(inputs: $inputs) { __typename } }';
const partial = { data: { createOrders: [{ order: { recipient: null } }] }, errors: [refused] };
const nothing = { data: { createOrders: null }, errors: [refused] };

test.each([
  ['without keys', { inputs: [{ notes: 'a' }] }],
  ['with a key for one of two inputs', { inputs: [{ idempotencyKey: 'a' }, {}] }],
  ['with a second variable that has no key', { inputs: [{ idempotencyKey: 'a' }], other: {} }],
])('after a refused token, a mutation that has written is not sent again: %s', async (_title, variables) => {
  expect(await send({ query: mutation, variables }, partial)).toEqual({
    sent: 1,
    refreshes: 1,
    answer: partial,
  });
});

test.each([
  ['a mutation with keys', { query: mutation, variables: { inputs: [{ idempotencyKey: 'a' }] } }, partial],
  ['a query', { query: '{ orders { nodes { id } } }' }, partial],
  ['a mutation that wrote nothing', { query: mutation, variables: { inputs: [{}] } }, nothing],
])('%s is sent again with the next token', async (_title, body, first) => {
  expect(await send(body, first)).toEqual({ sent: 2, refreshes: 1, answer: { data: { done: true } } });
});

test.each([
  ['an hour', 3_600_000],
  ['longer than a timer can be', 30 * 86_400_000],
])('an answer that asks to wait for %s is returned at once', async (_title, retryAfterMs) => {
  const error = { message: 'no', extensions: { code: 'RATE_LIMITED', retryable: true, retryAfterMs } };
  const limited = { data: { orders: null }, errors: [error] };
  expect(await send({ query: '{ orders { nodes { id } } }' }, limited)).toEqual({
    sent: 1,
    refreshes: 0,
    answer: limited,
  });
});
