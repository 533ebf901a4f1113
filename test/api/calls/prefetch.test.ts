import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Fault, startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { OperationCost } from '../../../src/server/graphql/cost-report.ts';
import { startOfTime, startWaybill, type Waybill, type WaybillOptions } from '../../harness.ts';

const sandbox = await startSandbox({ now: startOfTime });
let open: Waybill[] = [];

// As long as calls take, so that it shows what is under way at the same time, and what is late.
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

/** Whether the second call of an operation left before the first had an answer. */
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
  // What the cost of an operation is said to be.
  const { requests } = extensions.upstream as OperationCost;
  const [first, second] = requests;
  if (first === undefined || second === undefined) throw new Error('expected two calls');
  return second.startMs < first.startMs + Number(first.durationMs);
}

describe.each([
  ['compiled', { compileQueries: true }],
  ['not compiled', { compileQueries: false }],
])('a board of orders with shipments, %s,', (_what, options) => {
  test('asks for both at once as soon as it has been asked for once', async () => {
    const waybill = await start({}, options);
    const cold = await waybill.ask(board);
    // One of the rows of a list is held against its get at first.
    expect(cold.calls).toEqual([orders, shipments(150), 'GET /v1/shipments/ca2010']);
    const warm = await waybill.ask(board);
    expect(warm.calls).toEqual([orders, expect.stringMatching(/^GET \/v1\/shipments\?pageSize=\d+$/)]);
    expect([warm.data, warm.errors]).toEqual([cold.data, undefined]);
    expect(await isSecondAhead(waybill)).toBe(true);
  });
});

test('so does one of edges, with fragments, of another size, and of the orders that a search finds', async () => {
  const waybill = await start();
  const edges = `query ($search: String) {
    orders(first: 60, search: $search) { ...Edges }
  }
  fragment Edges on OrderConnection { edges { node { ...Named } } }
  fragment Named on Order { carried: shipment { ... on Shipment { status } } }`;
  expect(await isSecondAhead(waybill)).toBe(false);
  expect(await isSecondAhead(waybill, edges)).toBe(true);
  expect(await isSecondAhead(waybill, edges, { search: 'Mar\u00eda' })).toBe(false);
});

test('the pages after the first are two calls at once as well, in which their shipments are further down', async () => {
  const waybill = await start();
  await waybill.ask(board);
  let after: string | undefined;
  for (let page = 0; page < 6; page += 1) {
    const { data, errors, calls } = await waybill.ask<
      { orders: { pageInfo: { endCursor: string } } },
      unknown
    >(board, { after });
    expect(errors).toBeUndefined();
    // Now and then a row is held against its get.
    expect(calls.filter((call) => call.includes('?'))).toEqual([
      expect.stringMatching(/^GET \/v1\/orders\?pageSize=100/),
      expect.stringMatching(/^GET \/v1\/shipments\?pageSize=\d+$/),
    ]);
    expect(calls.length).toBeLessThanOrEqual(3);
    after = data.orders.pageInfo.endCursor;
  }
  expect(await isSecondAhead(waybill, board, { after })).toBe(true);
});

describe('nothing is asked for ahead', () => {
  const page = expect.stringMatching(/^GET \/v1\/shipments\?pageSize=\d+$/);

  test.each<[string, string, object, unknown[]]>([
    [
      'where only the ids of shipments are selected',
      '{ orders(first: 100) { nodes { shipment { id } } } }',
      {},
      [],
    ],
    ['where no shipments are', '{ orders(first: 100) { nodes { id } } }', {}, []],
    [
      'where they are left out',
      'query ($yes: Boolean!) { orders(first: 100) { nodes { id shipment @skip(if: $yes) { status } } } }',
      { yes: true },
      [],
    ],
    ['where a page in vain would not be worth it', board, { first: 3 }, ['GET /v1/shipments/ca2047']],
  ])('%s', async (_what, query, variables, more) => {
    const waybill = await start();
    await waybill.ask(board);
    const { calls } = await waybill.ask(query, variables);
    expect(calls[0]).toMatch(/^GET \/v1\/orders\?/);
    expect(calls.slice(1)).toEqual(more);
    expect(calls).not.toContainEqual(page);
  });

  test.each<[string, object]>([
    ['for orders of another kind', { status: ['IN_PROGRESS', 'READY', 'DELIVERED'] }],
    ['for orders that are searched', { search: '+573104567890' }],
  ])('%s', async (_what, variables) => {
    const waybill = await start();
    await waybill.ask(board);
    expect(await isSecondAhead(waybill, board, variables)).toBe(false);
  });

  test('for another merchant', async () => {
    const waybill = await start();
    await waybill.ask(board, {}, sandbox.tokens.second);
    await waybill.ask(board, {}, sandbox.tokens.second);
    expect(await isSecondAhead(waybill)).toBe(false);
  });

  test('where UPSTREAM_LISTS_FOR_BATCHES says no', async () => {
    const waybill = await start({ UPSTREAM_LISTS_FOR_BATCHES: 'no' });
    await waybill.ask(board);
    expect(await isSecondAhead(waybill)).toBe(false);
  });
});

describe('what was asked for is answered all the same', () => {
  const path = '/v1/shipments';
  const gets = Array.from({ length: 75 }, (_, index) => `GET /v1/shipments/ca${2047 - index}`).sort();

  async function secondAnswer(fault: Fault) {
    const waybill = await start();
    const first = await waybill.ask(board);
    sandbox.faults.clear();
    sandbox.faults.add(fault);
    sandbox.faults.add({ kind: 'delay', delayMs });
    const { data, errors, calls } = await waybill.ask(board);
    expect([data, errors]).toEqual([first.data, undefined]);
    expect(calls[0]).toBe(orders);
    const again = await waybill.ask(board);
    expect([again.data, again.errors]).toEqual([first.data, undefined]);
    return { calls: calls.slice(1).sort(), again: again.calls };
  }

  test('where the page fails: by another page, and where that fails too one by one, the next time at once', async () => {
    const { calls, again } = await secondAnswer({ kind: 'status', path, status: 503 });
    const pages = calls.filter((call) => call.includes('?'));
    expect(pages).toEqual([expect.any(String), shipments(188)]);
    expect(calls.filter((call) => !call.includes('?'))).toEqual(gets);
    expect(again.slice(1).sort()).toEqual(gets);
  });

  test('where the page is late: one by one', async () => {
    const { calls, again } = await secondAnswer({ kind: 'delay', path, delayMs: 5_000, times: 1 });
    expect(calls).toEqual([...gets, shipments(188)].sort());
    expect(again[0]).toBe(orders);
  });

  test('where the page has none of it any more: one by one, and the next time at once', async () => {
    const { calls, again } = await secondAnswer({ kind: 'change', path, change: () => ({ shipments: [] }) });
    expect(calls).toEqual([...gets, shipments(188)].sort());
    expect(again.slice(1).sort()).toEqual(gets);
  });

  test('where the budget just suffices for what was asked for', async () => {
    const waybill = await start({ UPSTREAM_READS_PER_OPERATION: '2' });
    for (let time = 0; time < 3; time += 1) {
      const { errors, calls } = await waybill.ask(board);
      expect([errors, calls.length]).toEqual([undefined, 2]);
    }
  });

  test('where the orders fail, with their error alone', async () => {
    const waybill = await start();
    await waybill.ask(board);
    sandbox.faults.clear();
    sandbox.faults.add({ kind: 'status', path: '/v1/orders', status: 503 });
    const { data, errors, calls } = await waybill.ask(board);
    expect([data, errors?.map(({ path }) => path)]).toEqual([{ orders: null }, [['orders']]]);
    expect(calls[0]).toBe(orders);
  });
});
