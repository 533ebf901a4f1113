import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

const sandbox = await startSandbox({ now: startOfTime });
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

/** A server that has held a row of both lists against its get just now, and knows nothing of the first merchant. */
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

/** Names of the first merchant's, who has shipments 1 to 2047 and orders 1 to 2500; the higher the newer. */
const shipment = (index: number) => `shipments/ca${String(index).padStart(4, '0')}`;
const order = (index: number) => `orders/ca${String(index).padStart(4, '0')}`;
const count = (length: number, nth: (index: number) => string) =>
  Array.from({ length }, (_, index) => nth(index));
const newest = (length: number) => count(length, (index) => shipment(2047 - index));
const spread = (length: number) => count(length, (index) => shipment(1 + index * Math.floor(2047 / length)));
const withoutNextPage = (answer: unknown) => ({ ...Object(answer), nextPageToken: '' });
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
  ])('are a page of their own list: of %i', async (first, page) => {
    const waybill = await start();
    const { data, errors, calls } = await waybill.ask(board, { first });
    expect(calls).toEqual([`GET /v1/orders?pageSize=${first}`, page]);
    const plain = await start({ UPSTREAM_LISTS_FOR_BATCHES: 'no', UPSTREAM_READS_PER_OPERATION: '1000' });
    const expected = await plain.ask(board, { first });
    expect([data, errors]).toEqual([expected.data, undefined]);
    expect(expected.calls.length).toBeGreaterThan(first / 2);
  });

  test.each([10, 100, 500, 1_000])('of %i orders cost at most three calls, however often', async (first) => {
    const waybill = await startAnew();
    // Far from REST, as which of the two ways is quicker is chance where calls take no time.
    sandbox.faults.add({ kind: 'delay', delayMs: 30 });
    for (let time = 0; time < 6; time += 1) {
      const { errors, calls } = await waybill.ask(board, { first });
      expect(errors).toBeUndefined();
      expect(calls.length).toBeLessThanOrEqual(3);
    }
  });

  test('are one get each where that is a handful, or where lists are not to be used', async () => {
    const few = await start();
    const { calls } = await few.ask(board, { first: 6 });
    expect(calls.slice(1).sort()).toEqual(gets(newest(3)).sort());
    const plain = await start({ UPSTREAM_LISTS_FOR_BATCHES: 'no' });
    const answer = await plain.ask(board, { first: 20 });
    expect(answer.calls.slice(1).sort()).toEqual(gets(newest(12)).sort());
  });

  test('count as saved calls in the cost of the operation', async () => {
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
      requests: [
        { path: '/v1/orders', askedBy: ['orders'] },
        { path: '/v1/shipments', askedBy: ['orders.nodes.*.shipment'] },
      ],
    });
  });
});

describe('ids', () => {
  test('of orders are answered from the list of orders', async () => {
    const waybill = await start();
    const ids = count(30, (index) => order(2500 - index));
    expect(await idsAndCalls(waybill, ids)).toEqual(['GET /v1/orders?pageSize=60']);
  });

  test('spread over the whole history cost at most 1.2 times one get each, however often', async () => {
    const waybill = await start();
    const ids = spread(100);
    const calls = await idsAndCalls(waybill, ids);
    // Of the newest 200, every twentieth is one of them.
    const found = ids.filter((id) => id > shipment(2047 - 200));
    expect(found).toHaveLength(7);
    const page = 'GET /v1/shipments?pageSize=200';
    expect(calls).toEqual([...gets(ids.filter((id) => !found.includes(id))), page]);
    // How deep it looks next depends on how long the first page took.
    for (let time = 0; time < 5; time += 1) {
      expect((await idsAndCalls(waybill, ids)).length).toBeLessThanOrEqual(101);
    }
  });

  test('that are nowhere in the list keep the next from it, but not those of another merchant or another list', async () => {
    const waybill = await start();
    const old = count(50, (index) => shipment(1 + index));
    // It ends with its first page: how deep the next batches look in one that goes on depends on how long pages take.
    sandbox.faults.add({ path: '/v1/shipments', kind: 'change', change: withoutNextPage });
    expect(await idsAndCalls(waybill, old)).toEqual([...gets(old), 'GET /v1/shipments?pageSize=100']);
    sandbox.faults.clear();
    expect(await idsAndCalls(waybill, old)).toEqual(gets(old));
    expect(await idsAndCalls(waybill, newest(50))).toEqual(gets(newest(50)).sort());
    const second = await waybill.ask(board, { first: 50 }, sandbox.tokens.second);
    expect(second.calls).toEqual(['GET /v1/orders?pageSize=50', 'GET /v1/shipments?pageSize=72']);
    expect(await idsAndCalls(waybill, [order(2500), ...count(9, (index) => order(2490 - index))])).toEqual([
      'GET /v1/orders?pageSize=20',
    ]);
  });

  test('that were not in the list do not keep those from it that a list of orders has named', async () => {
    const waybill = await start();
    const old = count(50, (index) => shipment(1 + index));
    const isBoardCheap = async () => {
      const { calls } = await waybill.ask(board, { first: 50 });
      // Now and then a row is held against its get.
      expect(calls.length).toBeLessThanOrEqual(3);
    };
    await isBoardCheap();
    for (let times = 0; times < 5; times += 1) {
      await idsAndCalls(waybill, old);
      await isBoardCheap();
    }
  });

  test('that are never in the list are looked for in it now and then', async () => {
    const waybill = await start();
    const old = count(5, (index) => shipment(1 + index));
    let pages = 0;
    for (let batch = 0; batch < 45; batch += 1) {
      const calls = await idsAndCalls(waybill, old);
      expect(calls.slice(0, 5)).toEqual(gets(old));
      pages += calls.length - 5;
    }
    // At first and twice as a trial; and up to three times deeper, where pages turn out to be quick.
    expect(pages).toBeGreaterThanOrEqual(3);
    expect(pages).toBeLessThanOrEqual(6);
  });

  test('that do not exist are null, and one that fails harms no other', async () => {
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

describe('a list that is not what it should be', () => {
  const page = 'GET /v1/shipments?pageSize=40';
  /** Rows of the list as `change` makes them, from the index of each. */
  const rows = (change: (row: Record<string, unknown>, index: number) => unknown) => (answer: unknown) => {
    // What the sandbox answers for its list of shipments.
    const list = answer as { shipments: Record<string, unknown>[] };
    return { ...list, shipments: list.shipments.map(change) };
  };
  const path = '/v1/shipments';

  test.each([
    ['fails', { path, kind: 'status', status: 503 } as const, [page, ...gets(newest(20))]],
    [
      'has no rows',
      { path, kind: 'change', change: () => ({ shipments: [] }) } as const,
      [page, ...gets(newest(20))],
    ],
    ['breaks off', { path, kind: 'cut-json' } as const, [page, ...gets(newest(20))]],
    [
      'has broken rows',
      {
        path,
        kind: 'change',
        change: rows((row, index) => (index < 2 ? { ...row, name: 'x' } : row)),
      } as const,
      [page, ...gets(newest(2))],
    ],
    [
      'gives fewer rows than it is asked for',
      {
        path,
        kind: 'change',
        change: withoutNextPage,
      } as const,
      [page],
    ],
  ])('harms nothing: one that %s', async (_what, fault, calls) => {
    const waybill = await start();
    sandbox.faults.add(fault);
    expect(await idsAndCalls(waybill, newest(20))).toEqual(calls.toSorted());
  });

  test('whose rows lack what a get has is seen at its first page, handed out to nobody, and not asked again', async () => {
    const waybill = await startAnew();
    const change = rows(({ totalCostCents: _, ...row }) => row);
    sandbox.faults.add({ path, kind: 'change', change });
    expect(await idsAndCalls(waybill, newest(20))).toEqual([...gets(newest(20)), page].sort());
    expect(await idsAndCalls(waybill, newest(20))).toEqual(gets(newest(20)).sort());
    const { data } = await waybill.ask<ById, unknown>(byId, { ids: newest(20) });
    expect(data.nodes).toEqual(
      newest(20).map((id) => ({ id, status: expect.any(String), totalCost: { cents: expect.any(Number) } })),
    );
  });

  test('in which one row alone lacks something has changed meanwhile, and is asked again', async () => {
    const waybill = await startAnew();
    const checked = newest(20)[10];
    const change = rows(({ totalCostCents, ...row }) =>
      row.name === checked ? row : { ...row, totalCostCents },
    );
    sandbox.faults.add({ path, kind: 'change', change });
    expect(await idsAndCalls(waybill, newest(20))).toEqual([...gets(newest(20)), page].sort());
    expect(await idsAndCalls(waybill, newest(20))).toEqual([
      expect.stringMatching(/shipments\?pageSize=\d+$/),
    ]);
  });

  test('for one merchant is seen at the third page of theirs, and not asked again for them alone', async () => {
    const waybill = await start();
    const board = () => idsAndCalls(waybill, newest(20));
    await board();
    await board();
    sandbox.faults.add({ path, kind: 'change', change: rows(({ totalCostCents: _, ...row }) => row) });
    expect((await board()).filter((call) => !call.includes('?'))).toEqual(gets(newest(20)).sort());
    sandbox.faults.clear();
    expect(await board()).toEqual(gets(newest(20)).sort());
    const ofSecond = `{ orders(first: 50) { nodes { shipment { status } } } }`;
    const { calls } = await waybill.ask(ofSecond, {}, sandbox.tokens.second);
    expect(calls[1]).toMatch(/shipments\?pageSize=\d+$/);
  });

  test('that holds a row against its get does so twice a minute, at the cost of that get', async () => {
    const waybill = await startAnew();
    expect(await idsAndCalls(waybill, newest(20))).toEqual([...gets(newest(20).slice(10, 11)), page]);
    expect(await idsAndCalls(waybill, newest(20))).toHaveLength(1);
  });
});

describe('a list that answers no call now is not got around by gets:', () => {
  test.each([
    [429, 'RATE_LIMITED'],
    [401, 'UNAUTHENTICATED'],
  ])('%i', async (status, code) => {
    const waybill = await start();
    sandbox.faults.add({ kind: 'status', status });
    const { data, errors, calls } = await waybill.ask<ById, { ids: string[] }>(byId, {
      ids: newest(20),
    });
    expect(data.nodes).toEqual(newest(20).map(() => null));
    expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(newest(20).map(() => code));
    expect(calls).toEqual(['GET /v1/shipments?pageSize=40']);
  });
});

test('after a write, what the list has said before it is asked for anew', async () => {
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
  const page = 'GET /v1/shipments?pageSize=12';
  expect([...calls.slice(0, 6).sort(), calls[6], ...calls.slice(7, 13).sort(), ...calls.slice(13)]).toEqual([
    ...patches.toSorted(),
    page,
    ...patches.toSorted(),
    page,
  ]);
});
