import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OperationCost } from '../../../src/rest/client/call-log.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startWaybill, type Waybill, type WaybillOptions } from '../../harness.ts';

const sandbox = await startSeededSandbox();
let open: Waybill[] = [];

// Long enough to see which calls run at the same time.
const delayMs = 30;
beforeEach(() => void sandbox.faults.add({ kind: 'delay', delayMs }));
afterEach(async () => {
  sandbox.faults.clear();
  for (const waybill of open) await waybill[Symbol.asyncDispose]();
  open = [];
});
afterAll(() => sandbox.close());

/** A server that knows nothing yet. */
async function start(
  environment: Record<string, string> = {},
  options: WaybillOptions = {},
): Promise<Waybill> {
  const waybill = await startWaybill(environment, { sandbox, ...options });
  open.push(waybill);
  return waybill;
}

const board = `query ($first: Int = 100, $after: String, $status: [OrderStatus!], $search: String) {
  orders(first: $first, after: $after, status: $status, search: $search) {
    nodes { id shipment { id status label { id } } }
    pageInfo { endCursor }
  }
}`;
const orders = 'GET /v1/orders?pageSize=100';
const shipments = (pageSize: number) => `GET /v1/shipments?pageSize=${pageSize}`;

/** Whether the second call of an operation was sent before the first had a response. */
async function isSecondAhead(waybill: Waybill, query = board, variables: object = {}): Promise<boolean> {
  sandbox.requests.clear();
  const response = await waybill.fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${sandbox.tokens.first}`,
      'x-upstream-cost': '1',
    },
    body: JSON.stringify({ query, variables }),
  });
  const { errors, extensions } = await response.json();
  expect(errors).toBeUndefined();
  // The extension has this form (docs/api-reference.md).
  const { requests } = extensions.upstream as OperationCost;
  const [first, second] = requests;
  if (first === undefined || second === undefined) throw new Error('expected two calls');
  return second.startMs < first.startMs + Number(first.durationMs);
}

test('an order board reads orders and shipments in parallel from the second query on', async () => {
  const waybill = await start();
  const cold = await waybill.ask(board);
  // One row of the list is compared with its record.
  expect(cold.calls).toEqual([orders, 'GET /v1/shipments/ca2010', shipments(150)]);
  const warm = await waybill.ask(board);
  expect(warm.calls).toEqual([orders, expect.stringMatching(/^GET \/v1\/shipments\?pageSize=\d+$/)]);
  expect([warm.data, warm.errors]).toEqual([cold.data, undefined]);
  expect(await isSecondAhead(waybill)).toBe(true);
});

test('an order board with edges and fragments reads orders and shipments in parallel', async () => {
  const waybill = await start();
  const edges = `{ orders(first: 60) { ...Edges } }
  fragment Edges on OrderConnection { edges { node { ...Named } } }
  fragment Named on Order { carried: shipment { ... on Shipment { status } } }`;
  expect(await isSecondAhead(waybill)).toBe(false);
  expect(await isSecondAhead(waybill, edges)).toBe(true);
});

test('a later page of an order board reads orders and shipments in parallel', async () => {
  const waybill = await start();
  await waybill.ask(board);
  let after: string | undefined;
  for (let page = 0; page < 6; page += 1) {
    const { data, errors, calls } = await waybill.ask<
      { orders: { pageInfo: { endCursor: string } } },
      unknown
    >(board, { after });
    expect(errors).toBeUndefined();
    expect(calls).toEqual([
      expect.stringMatching(/^GET \/v1\/orders\?pageSize=100/),
      expect.stringMatching(/^GET \/v1\/shipments\?pageSize=\d+$/),
    ]);
    after = data.orders.pageInfo.endCursor;
  }
  expect(await isSecondAhead(waybill, board, { after })).toBe(true);
});

describe('a page of shipments', () => {
  const page = expect.stringMatching(/^GET \/v1\/shipments\?pageSize=\d+$/);

  test.each<[string, string, object, unknown[]]>([
    [
      'if only the ids of shipments are selected',
      '{ orders(first: 100) { nodes { shipment { id } } } }',
      {},
      [],
    ],
    ['if no shipments are selected', '{ orders(first: 100) { nodes { id } } }', {}, []],
    [
      'if @skip excludes the shipments',
      'query ($yes: Boolean!) { orders(first: 100) { nodes { id shipment @skip(if: $yes) { status } } } }',
      { yes: true },
      [],
    ],
    ['for fewer than five shipments', board, { first: 3 }, ['GET /v1/shipments/ca2047']],
  ])('is not prefetched %s', async (_what, query, variables, more) => {
    const waybill = await start();
    await waybill.ask(board);
    const { calls } = await waybill.ask(query, variables);
    expect(calls[0]).toMatch(/^GET \/v1\/orders\?/);
    expect(calls.slice(1)).toEqual(more);
    expect(calls).not.toContainEqual(page);
  });

  test.each<[string, object]>([
    ['for a new status filter', { status: ['IN_PROGRESS', 'READY', 'DELIVERED'] }],
    ['for a search', { search: '+573104567890' }],
  ])('is not prefetched %s', async (_what, variables) => {
    const waybill = await start();
    await waybill.ask(board);
    expect(await isSecondAhead(waybill, board, variables)).toBe(false);
  });

  test('is not prefetched for a new token', async () => {
    const waybill = await start();
    await waybill.ask(board, {}, sandbox.tokens.second);
    await waybill.ask(board, {}, sandbox.tokens.second);
    expect(await isSecondAhead(waybill)).toBe(false);
  });

  test('is not prefetched with UPSTREAM_LISTS_FOR_BATCHES=no', async () => {
    const waybill = await start({ UPSTREAM_LISTS_FOR_BATCHES: 'no' });
    await waybill.ask(board);
    expect(await isSecondAhead(waybill)).toBe(false);
  });
});

test('an order board waits for a slow prefetched page', async () => {
  const waybill = await start();
  const { data } = await waybill.ask(board);
  sandbox.faults.clear();
  sandbox.faults.add({ kind: 'delay', path: '/v1/shipments', delayMs: 1_500, times: 1 });
  expect(await waybill.ask(board)).toMatchObject({
    data,
    errors: undefined,
    calls: [orders, shipments(132)],
  });
});

test('a prefetched page without matches is replaced by one GET per shipment', async () => {
  const waybill = await start();
  const { data } = await waybill.ask(board);
  sandbox.faults.clear();
  sandbox.faults.add({ kind: 'change', path: '/v1/shipments', change: () => ({ shipments: [] }) });
  const gets = Array.from({ length: 75 }, (_, index) => `GET /v1/shipments/ca${2047 - index}`).sort();
  for (const pageCount of [1, 1, 0]) {
    const again = await waybill.ask(board);
    expect([again.data, again.errors]).toEqual([data, undefined]);
    expect(again.calls.filter((call) => call.includes('shipments?'))).toHaveLength(pageCount);
    expect(again.calls.filter((call) => !call.includes('?')).sort()).toEqual(gets);
  }
});

test('a budget of two reads is enough for an order board', async () => {
  const waybill = await start({ UPSTREAM_READS_PER_OPERATION: '2' });
  for (let time = 0; time < 3; time += 1) {
    const { errors, calls } = await waybill.ask(board);
    expect([errors, calls.length]).toEqual([undefined, 2]);
  }
});

test('the prefetched page adds no error if the call for the orders fails', async () => {
  const waybill = await start();
  await waybill.ask(board);
  sandbox.faults.clear();
  sandbox.faults.add({ kind: 'status', path: '/v1/orders', status: 503 });
  const { data, errors, calls } = await waybill.ask(board);
  expect([data, errors?.map(({ path }) => path)]).toEqual([{ orders: null }, [['orders']]]);
  expect(calls[0]).toBe(orders);
});
