import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/sandbox.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const sandbox = await startSeededSandbox();
let open: Waybill[] = [];

afterEach(async () => {
  sandbox.faults.clear();
  for (const waybill of open) await waybill[Symbol.asyncDispose]();
  open = [];
});
afterAll(() => sandbox.close());

/** A server that knows nothing yet. */
async function startAnew(environment: Record<string, string> = {}): Promise<Waybill> {
  // A board of 1,000 orders with shipments and couriers is 3,000 nodes.
  const waybill = await startWaybill({ MAX_NODES: '3000', ...environment }, { sandbox });
  open.push(waybill);
  return waybill;
}

/** A server that has just compared a row of both lists with its record, and knows nothing of the first merchant. */
async function start(environment: Record<string, string> = {}): Promise<Waybill> {
  const waybill = await startAnew(environment);
  const { errors, data } = await waybill.ask<{ orders: ById; shipments: ById }, unknown>(
    '{ orders(first: 20) { nodes { id } } shipments(first: 20) { nodes { id } } }',
    {},
    sandbox.tokens.second,
  );
  expect(errors).toBeUndefined();
  const ids = [...data.orders.nodes, ...data.shipments.nodes].map((node) => node?.id);
  await waybill.ask(byId, { ids }, sandbox.tokens.second);
  return waybill;
}

const board = `query ($first: Int) {
  orders(first: $first) { nodes { id shipment { id status totalCost { cents } courier { id } } } }
}`;
const byId = `query ($ids: [ID!]!) {
  nodes(ids: $ids) { id ... on Order { notes } ... on Shipment { status totalCost { cents } } }
}`;
interface ById {
  nodes: ({ id: string } | null)[];
}

/** Names of the first merchant's records: shipments 1 to 2047 and orders 1 to 2500, the newest with the highest number. */
const shipment = (index: number) => `shipments/ca${String(index).padStart(4, '0')}`;
const order = (index: number) => `orders/ca${String(index).padStart(4, '0')}`;
const count = (length: number, nth: (index: number) => string) =>
  Array.from({ length }, (_, index) => nth(index));
const newest = (length: number) => count(length, (index) => shipment(2047 - index));
const spread = (length: number) => count(length, (index) => shipment(1 + index * Math.floor(2047 / length)));
const withoutNextPage = (answer: unknown) => ({ ...Object(answer), nextPageToken: '' });
/** Changes the rows of the list of shipments, from each row and its index. */
const rows = (change: (row: Record<string, unknown>, index: number) => unknown) => (answer: unknown) => {
  // The sandbox's list of shipments has this form.
  const list = answer as { shipments: Record<string, unknown>[] };
  return { ...list, shipments: list.shipments.map(change) };
};
const gets = (names: readonly string[]) => names.map((name) => `GET /v1/${name}`);

async function idsAndCalls({ ask }: Waybill, ids: readonly string[]) {
  const { data, errors, calls } = await ask<ById, unknown>(byId, { ids });
  expect([data.nodes.map((node) => node?.id), errors]).toEqual([ids, undefined]);
  return calls.toSorted();
}

describe('the shipments of a page of orders', () => {
  test.each([
    [100, 'GET /v1/shipments?pageSize=150'],
    [1_000, 'GET /v1/shipments?pageSize=1000'],
  ])('are read as one page of the shipment list if there are %i orders', async (first, page) => {
    const waybill = await start();
    const { data, errors, calls } = await waybill.ask(board, { first });
    expect(calls).toEqual([`GET /v1/orders?pageSize=${first}`, page]);
    const plain = await start({ UPSTREAM_LISTS_FOR_BATCHES: 'no', UPSTREAM_READS_PER_OPERATION: '1000' });
    const expected = await plain.ask(board, { first });
    expect([data, errors]).toEqual([expected.data, undefined]);
    expect(expected.calls.length).toBeGreaterThan(first / 2);
  });

  test.each([10, 100, 500, 1_000])(
    'cost at most three calls, including the call for the %i orders',
    async (first) => {
      const waybill = await startAnew();
      for (let time = 0; time < 6; time += 1) {
        const { errors, calls } = await waybill.ask(board, { first });
        expect(errors).toBeUndefined();
        expect(calls.length).toBeLessThanOrEqual(3);
      }
    },
  );

  test('are read with one GET each if there are only three shipments', async () => {
    const waybill = await start();
    const { calls } = await waybill.ask(board, { first: 6 });
    expect(calls.slice(1).sort()).toEqual(gets(newest(3)).sort());
  });

  test('are read with one GET each with UPSTREAM_LISTS_FOR_BATCHES=no', async () => {
    const waybill = await start({ UPSTREAM_LISTS_FOR_BATCHES: 'no' });
    const { calls } = await waybill.ask(board, { first: 20 });
    expect(calls.slice(1).sort()).toEqual(gets(newest(12)).sort());
  });

  test('are counted as saved calls in the cost of the operation', async () => {
    const waybill = await start();
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${sandbox.tokens.first}`,
        'x-upstream-cost': '1',
      },
      body: JSON.stringify({ query: board, variables: { first: 100 } }),
    });
    const { extensions } = await response.json();
    expect(extensions.upstream).toMatchObject({
      calls: 2,
      savedByList: 75,
      requests: [{ path: '/v1/orders' }, { path: '/v1/shipments' }],
    });
  });
});

describe('a batch of ids', () => {
  test('is read as one page of orders if all ids are order ids', async () => {
    const waybill = await start();
    const ids = count(30, (index) => order(2500 - index));
    expect(await idsAndCalls(waybill, ids)).toEqual(['GET /v1/orders?pageSize=60']);
  });

  test('costs at most six calls from the second read on if its ids span the whole list', async () => {
    const waybill = await start();
    const ids = spread(100);
    const first = await idsAndCalls(waybill, ids);
    expect(first.filter((call) => call.includes('?'))).toHaveLength(1);
    expect(first).toHaveLength(94);
    for (let time = 0; time < 5; time += 1) {
      expect((await idsAndCalls(waybill, ids)).length).toBeLessThanOrEqual(6);
    }
  });

  test('is read with GETs after two batches found none of their ids on a list page', async () => {
    const waybill = await start();
    const old = count(50, (index) => shipment(1 + index));
    expect(await idsAndCalls(waybill, old)).toEqual([...gets(old), 'GET /v1/shipments?pageSize=99']);
    expect(await idsAndCalls(waybill, old)).toEqual([...gets(old), 'GET /v1/shipments?pageSize=395']);
    expect(await idsAndCalls(waybill, newest(50))).toEqual(gets(newest(50)).sort());
    const second = await waybill.ask(board, { first: 50 }, sandbox.tokens.second);
    expect(second.calls).toEqual(['GET /v1/orders?pageSize=50', 'GET /v1/shipments?pageSize=72']);
    expect(await idsAndCalls(waybill, [order(2500), ...count(9, (index) => order(2490 - index))])).toEqual([
      'GET /v1/orders?pageSize=20',
    ]);
  });

  test('returns the remaining records if one id is unknown and one GET fails', async () => {
    const waybill = await start();
    sandbox.faults.add({ path: `/v1/${shipment(1)}`, kind: 'status', status: 500 });
    const { data, errors, calls } = await waybill.ask<ById, unknown>(byId, {
      ids: [...newest(8), 'shipments/none', shipment(1)],
    });
    expect(data.nodes.map((node) => node?.id)).toEqual([...newest(8), undefined, undefined]);
    expect(errors).toMatchObject([{ path: ['nodes', 9], extensions: { code: 'UPSTREAM_ERROR' } }]);
    expect(calls.toSorted()).toEqual(
      ['GET /v1/shipments?pageSize=20', ...gets(['shipments/none', shipment(1)])].sort(),
    );
  });
});

test('order boards cost two calls even if batches of ids find no match on a list page', async () => {
  const waybill = await start();
  const old = count(50, (index) => shipment(1 + index));
  for (let time = 0; time < 5; time += 1) {
    await idsAndCalls(waybill, old);
    const { calls } = await waybill.ask(board, { first: 50 });
    expect(calls).toHaveLength(2);
  }
});

describe('a batch of twenty ids', () => {
  const page = 'GET /v1/shipments?pageSize=40';
  const path = '/v1/shipments';

  test.each<[string, Fault, string[]]>([
    ['returns 500', { path, kind: 'status', status: 500 }, [page, ...gets(newest(20))]],
    [
      'returns no rows',
      { path, kind: 'change', change: () => ({ shipments: [] }) },
      [page, ...gets(newest(20))],
    ],
    ['returns incomplete JSON', { path, kind: 'cut-json' }, [page, ...gets(newest(20))]],
    [
      'returns two invalid rows',
      { path, kind: 'change', change: rows((row, index) => (index < 2 ? { ...row, name: 'x' } : row)) },
      [page, ...gets(newest(2))],
    ],
    ['returns no next page token', { path, kind: 'change', change: withoutNextPage }, [page]],
  ])('returns every record if the list call %s', async (_what, fault, calls) => {
    const waybill = await start();
    sandbox.faults.add(fault);
    expect(await idsAndCalls(waybill, newest(20))).toEqual(calls.toSorted());
  });
});

describe('a row of the shipment list', () => {
  const page = 'GET /v1/shipments?pageSize=40';
  const path = '/v1/shipments';

  test('is compared with a GET of its shipment when a new server reads the first page', async () => {
    const waybill = await startAnew();
    expect(await idsAndCalls(waybill, newest(20))).toEqual([...gets(newest(20).slice(10, 11)), page]);
    expect(await idsAndCalls(waybill, newest(20))).toHaveLength(1);
  });

  test('is not used if it lacks fields that a GET returns', async () => {
    const waybill = await startAnew();
    const change = rows(({ totalCostCents: _, ...row }) => row);
    sandbox.faults.add({ path, kind: 'change', change });
    const first = await waybill.ask<ById, unknown>(byId, { ids: newest(20) });
    expect(first.calls.sort()).toEqual([...gets(newest(20)), page].sort());
    expect(first.data.nodes).toEqual(
      newest(20).map((id) => ({ id, status: expect.any(String), totalCost: { cents: expect.any(Number) } })),
    );
    expect(await idsAndCalls(waybill, newest(20))).toEqual(gets(newest(20)).sort());
    const { calls } = await waybill.ask(board, { first: 50 }, sandbox.tokens.second);
    expect(calls.filter((call) => call.includes('shipments?'))).toEqual([]);
  });

  test.each([
    ['is used without a GET', 'GENERATING_LABEL', false],
    ['is used without a GET', 'WITH_ERROR', false],
    ['is used without a GET', 'CANCELLED', false],
    ['is replaced by a GET', 'DELIVERED', true],
    ['is replaced by a GET', 'LABEL_GENERATED', true],
    ['is replaced by a GET', 'A_NEW_STATUS', true],
  ])('with the status $1 and without a label $0', async (_what, status, isRead) => {
    const waybill = await start();
    const change = rows((row, index) => (index === 0 ? { ...row, status, label: undefined } : row));
    sandbox.faults.add({ path, kind: 'change', change });
    const expected = isRead ? [...gets(newest(1)), page] : [page];
    expect(await idsAndCalls(waybill, newest(20))).toEqual(expected);
  });
});

test('a batch of ids fails without a GET if the list call returns 401', async () => {
  const waybill = await start();
  sandbox.faults.add({ kind: 'status', status: 401 });
  const { data, errors, calls } = await waybill.ask<ById, { ids: string[] }>(byId, { ids: newest(20) });
  expect(data.nodes).toEqual(newest(20).map(() => null));
  expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(newest(20).map(() => 'UNAUTHENTICATED'));
  expect(calls).toEqual(['GET /v1/shipments?pageSize=40']);
});

test('the first batch after a write reads a new page of the list', async () => {
  const waybill = await start();
  // Six of the newest orders that have been shipped.
  const shipped = ['ca2499', 'ca2497', 'ca2495', 'ca2494', 'ca2493', 'ca2491'];
  const update = `mutation ($inputs: [UpdateOrderInput!]!) {
    first: updateOrders(inputs: $inputs) { ...OfShipment }
    second: updateOrders(inputs: $inputs) { ...OfShipment }
  }
  fragment OfShipment on UpdateOrderSuccess { order { shipment { status } } }`;
  const inputs = shipped.map((id) => ({ id, notes: 'Con cuidado' }));
  const { data, errors, calls } = await waybill.ask(update, { inputs });
  const results = shipped.map(() => ({ order: { shipment: { status: expect.any(String) } } }));
  expect([data, errors]).toEqual([{ first: results, second: results }, undefined]);
  const patches = shipped.map((id) => `PATCH /v1/orders/${id}`);
  expect([...calls.slice(0, 6).sort(), calls[6], ...calls.slice(7, 13).sort(), ...calls.slice(13)]).toEqual([
    ...patches.toSorted(),
    'GET /v1/shipments?pageSize=12',
    ...patches.toSorted(),
    expect.stringMatching(/^GET \/v1\/shipments\?pageSize=1\d$/),
  ]);
});
