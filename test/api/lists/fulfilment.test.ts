import { afterEach, describe, expect, test } from 'vitest';
import {
  createShop,
  type OrderRow,
  rowsOfSeed,
  type ShipmentRow,
  type Shop,
  startMs,
} from '../../fixtures/shop-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

type App = Awaited<ReturnType<typeof startApp>>;
const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app[Symbol.asyncDispose]();
});

async function open(shop: Shop, environment: Record<string, string> = {}) {
  const app = await startApp(shop.answer, environment);
  apps.push(app);
  return {
    async ask(query: string) {
      const seen = app.calls().length;
      const { data, errors } = await app.ask(query);
      return { data: data as { list: List | null }, errors, calls: app.calls().slice(seen) };
    },
  };
}

interface List {
  nodes: ({ id: string; shipment?: object } | null)[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

const list = (field: string, fields = 'id') =>
  `{ list: ${field} { nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`;
const ids = (rows: readonly { name: string }[]) => rows.map(({ name }) => ({ id: name }));
const numbered = (collection: string, pageSize: number, token = '') =>
  `GET /v1/${collection}?pageSize=${pageSize}${token && `&pageToken=${collection}%2F${token}`}`;

/** A shop whose order `n` of so many has the shipment `n`, newest first. */
function shopOf(count: number, statusOf: (number: number) => string = () => 'DELIVERED'): Shop {
  const numbers = Array.from({ length: count }, (_, index) => count - index);
  const orders = numbers.map((number): OrderRow => {
    return { name: `orders/${number}`, status: 'IN_PROGRESS', shipment: `shipments/${number}` };
  });
  const shipments = numbers.map((number): ShipmentRow => {
    return { name: `shipments/${number}`, status: statusOf(number) };
  });
  return createShop(orders, shipments);
}

describe('orders(hasShipment:)', () => {
  const open100 = 'orders(first: 100, status: [NEW, CONFIRMED, READY], hasShipment: false)';
  const places: [string, (index: number) => boolean][] = [
    ['at the start of', (index) => index < 100],
    ['at the end of', (index) => index >= 4_900],
    ['all over', (index) => index % 50 === 7],
  ];

  test.each(places)('costs one call for 100 unshipped orders %s a list of 5,000', async (_where, isOpen) => {
    const orders = Array.from({ length: 5_000 }, (_, index): OrderRow => {
      const name = `orders/${index}`;
      if (isOpen(index)) return { name, status: ['NEW', 'CONFIRMED', 'READY'][index % 3] ?? '' };
      return { name, status: index % 10 === 0 ? 'CANCELLED' : 'DELIVERED', shipment: `shipments/${index}` };
    });
    const { ask } = await open(createShop(orders, []));
    const { data, calls } = await ask(list(open100));
    expect(data.list?.nodes).toEqual(ids(orders.filter(({ shipment }) => shipment === undefined)));
    expect(calls).toEqual([`${numbered('orders', 500)}&status=CONFIRMED%2CNEW%2CREADY`]);
  });

  test('treats an order with an empty shipment name as unshipped', async () => {
    const orders = [
      { name: 'orders/1', status: 'NEW', shipment: '' },
      { name: 'orders/2', status: 'NEW', shipment: 'shipments/2' },
    ];
    const { ask } = await open(createShop(orders, []));
    expect((await ask(list('orders(hasShipment: false)'))).data.list?.nodes).toEqual([{ id: 'orders/1' }]);
    expect((await ask(list('orders(hasShipment: true)'))).data.list?.nodes).toEqual([{ id: 'orders/2' }]);
  });
});

describe('orders(shipmentStatus:)', () => {
  test('reads each page of orders and of shipments only once', async () => {
    const shop = shopOf(3_000, (number) => (number % 100 === 0 ? 'WITH_ERROR' : 'DELIVERED'));
    const { ask } = await open(shop);
    const { data, calls } = await ask(list('orders(first: 20, shipmentStatus: [WITH_ERROR])'));
    expect(data.list?.nodes).toEqual(ids(shop.orders.filter((_, index) => index % 100 === 0).slice(0, 20)));
    expect(calls).toEqual([
      numbered('orders', 100),
      numbered('shipments', 100),
      numbered('orders', 1_000, '2901'),
      numbered('shipments', 1_000, '2901'),
      numbered('orders', 1_000, '1901'),
      numbered('shipments', 1_000, '1901'),
    ]);
  });

  test('reads pages of shipments, not each shipment, for the second 1,000 orders', async () => {
    const shop = shopOf(5_000, (number) => (number % 2 === 0 ? 'RETURN' : 'DELIVERED'));
    const { ask } = await open(shop);
    const field = 'orders(first: 1000, shipmentStatus: [RETURN]';
    const first = await ask(list(`${field})`));
    const second = await ask(list(`${field}, after: "${first.data.list?.pageInfo.endCursor}")`));
    const expected = ids(shop.orders.filter((_, index) => index % 2 === 0));
    expect(first.data.list?.nodes).toEqual(expected.slice(0, 1_000));
    expect(second.data.list?.nodes).toEqual(expected.slice(1_000, 2_000));
    // The last order of the REST page before has a shipment that is read by id: one is not worth a page.
    expect(second.calls).toEqual([
      numbered('orders', 1_000, '4001'),
      'GET /v1/shipments/3001',
      numbered('orders', 1_000, '3001'),
      // The page before the last one that was read, because the shipments of neighbours may be in either.
      numbered('shipments', 1_000),
      numbered('shipments', 1_000, '4001'),
      numbered('shipments', 1_000, '3001'),
      numbered('orders', 1_000, '2001'),
      numbered('shipments', 1_000, '2001'),
    ]);
  });

  test('costs no further call if the query selects the shipments of matching orders', async () => {
    const shop = shopOf(400, (number) => (number % 8 === 0 ? 'WITH_ERROR' : 'DELIVERED'));
    for (const row of shop.shipments) Object.assign(row, { label: 'labels/1', totalCostCents: 100 });
    const { ask } = await open(shop);
    const field = 'orders(first: 30, shipmentStatus: [WITH_ERROR])';
    const { data, calls } = await ask(list(field, 'id shipment { status }'));
    expect(data.list?.nodes).toHaveLength(30);
    expect(new Set(data.list?.nodes.map((node) => JSON.stringify(node?.shipment)))).toEqual(
      new Set(['{"status":"WITH_ERROR"}']),
    );
    expect(calls).toEqual([
      numbered('orders', 150),
      numbered('shipments', 150),
      numbered('orders', 1_000, '251'),
      numbered('shipments', 1_000, '251'),
    ]);
  });

  test('reads shipments by id if the list lacks a few, and reads no quote', async () => {
    const shop = shopOf(50, (number) => (number <= 3 ? 'WITH_ERROR' : 'DELIVERED'));
    for (const number of [1, 2, 40]) shop.unlisted.add(`shipments/${number}`);
    const { ask } = await open(shop);
    const { data, errors, calls } = await ask(list('orders(shipmentStatus: [WITH_ERROR])'));
    expect({ nodes: data.list?.nodes, errors }).toEqual({
      nodes: [{ id: 'orders/3' }, { id: 'orders/2' }, { id: 'orders/1' }],
      errors: undefined,
    });
    expect(calls.slice(0, 2)).toEqual([numbered('orders', 100), numbered('shipments', 100)]);
    expect(calls.slice(2).sort()).toEqual([
      'GET /v1/shipments/1',
      'GET /v1/shipments/2',
      'GET /v1/shipments/40',
    ]);
  });

  test('returns null with an error for each order whose shipment cannot be read', async () => {
    const shop = shopOf(20, (number) => (number > 18 ? 'WITH_ERROR' : 'DELIVERED'));
    for (const number of [5, 6, 7]) shop.unlisted.add(`shipments/${number}`);
    shop.failing.set('shipments/5', 500).set('shipments/6', 404);
    Object.assign(shop.orders[19] ?? {}, { shipment: 'parcels/1' });
    const { ask } = await open(shop);
    const { data, errors } = await ask(list('orders(shipmentStatus: [WITH_ERROR])'));
    expect(data.list?.nodes).toEqual([{ id: 'orders/20' }, { id: 'orders/19' }, null, null, null]);
    expect(errors?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      'list.nodes.2 UPSTREAM_INVALID_RESPONSE',
      'list.nodes.3 UPSTREAM_ERROR',
      'list.nodes.4 UPSTREAM_INVALID_RESPONSE',
    ]);
  });

  test('leaves out orders if the shipment status is empty or unknown', async () => {
    const shop = shopOf(12, (number) => ['', 'LOST_AT_SEA', 'DELIVERED'][number % 3] ?? '');
    const { ask } = await open(shop);
    const { data, calls } = await ask(list('orders(shipmentStatus: [DELIVERED])'));
    expect(data.list?.nodes).toEqual(ids(shop.orders.filter((_, index) => index % 3 === 1)));
    expect(calls.sort()).toEqual(
      [
        ...[12, 3, 6, 9].map((number) => `GET /v1/shipments/${number}`),
        numbered('orders', 100),
        numbered('shipments', 100),
      ].sort(),
    );
  });

  test('fails if a page of shipments fails', async () => {
    const shop = shopOf(50);
    const answer: Shop['answer'] = (request, response, body) =>
      request.url?.startsWith('/v1/shipments?')
        ? response.writeHead(503).end()
        : shop.answer(request, response, body);
    const { ask } = await open({ ...shop, answer });
    const { data, errors, calls } = await ask(list('orders(shipmentStatus: [DELIVERED])'));
    expect(data).toEqual({ list: null });
    expect(errors).toMatchObject([{ path: 'list', code: 'UPSTREAM_UNAVAILABLE' }]);
    expect(calls).toEqual([numbered('orders', 100), numbered('shipments', 100)]);
  });

  test('shares its pages with the other filtered lists of the operation', async () => {
    const shop = shopOf(900, (number) => (number % 30 === 0 ? 'RETURN' : 'WITH_ERROR'));
    const { ask } = await open(shop);
    const { data, calls } = await ask(`{
      list: orders(first: 10, shipmentStatus: [WITH_ERROR]) { nodes { id } }
      returned: orders(first: 50, shipmentStatus: [RETURN]) { nodes { id } }
      all: orders(first: 5, hasShipment: true) { nodes { id } }
    }`);
    expect(data).toEqual({
      list: { nodes: ids(shop.orders.slice(1, 11)) },
      returned: { nodes: ids(shop.orders.filter((_, index) => index % 30 === 0)) },
      all: { nodes: ids(shop.orders.slice(0, 5)) },
    });
    expect(calls).toEqual([
      numbered('orders', 250),
      numbered('shipments', 250),
      numbered('orders', 1_000, '651'),
      numbered('shipments', 1_000, '651'),
    ]);
  });

  test('reaches the end of a list of 30,000 orders without a match', async () => {
    const { ask } = await open(shopOf(30_000));
    const cost: number[] = [];
    let after = '';
    let hasNextPage = true;
    while (hasNextPage && cost.length < 10) {
      const { data, calls } = await ask(list(`orders(shipmentStatus: [WITH_ERROR]${after})`));
      expect(data.list?.nodes).toEqual([]);
      cost.push(calls.length);
      hasNextPage = data.list?.pageInfo.hasNextPage === true;
      after = `, after: "${data.list?.pageInfo.endCursor}"`;
    }
    expect([cost, hasNextPage]).toEqual([[20, 20, 20, 14], false]);
  });

  test('finds all matches over several operations if counts use most of the 20 pages', async () => {
    const shop = shopOf(25_000, (number) => (number % 5_000 === 0 ? 'WITH_ERROR' : 'DELIVERED'));
    const { ask } = await open(shop);
    const found: object[] = [];
    let after = '';
    let hasNextPage = true;
    let operations = 0;
    while (hasNextPage && operations < 60) {
      // The counts of a new time are never kept.
      const counts = `shipmentCounts(createdSince: "2020-01-01T00:00:${10 + operations}Z") { total }`;
      const orders = `list: orders(first: 1000, shipmentStatus: [WITH_ERROR]${after})`;
      const { data, calls } = await ask(
        `{ ${counts} ${orders} { nodes { id } pageInfo { hasNextPage endCursor } } }`,
      );
      expect(calls.filter((call) => call.includes('?')).length).toBeLessThanOrEqual(20);
      expect(calls.length).toBeLessThanOrEqual(24);
      found.push(...(data.list?.nodes ?? []).flatMap((node) => node ?? []));
      hasNextPage = data.list?.pageInfo.hasNextPage === true;
      after = `, after: "${data.list?.pageInfo.endCursor}"`;
      operations += 1;
    }
    expect([found, hasNextPage]).toEqual([ids(shop.orders.filter((_, index) => index % 5_000 === 0)), false]);
  });

  test('reads no page of shipments if no order can match', async () => {
    const shop = shopOf(300);
    for (const row of shop.orders) delete row.shipment;
    const { ask } = await open(shop);
    const { data, calls } = await ask(list('orders(shipmentStatus: [DELIVERED])'));
    expect(data.list?.nodes).toEqual([]);
    expect(calls).toEqual([numbered('orders', 100), numbered('orders', 1_000, '201')]);
  });
});

describe('the arguments of filters', () => {
  test.each([
    [
      'orders(hasShipment: false, shipmentStatus: [DELIVERED])',
      '"shipmentStatus" must be empty or omitted if "hasShipment" is false.',
    ],
    [
      'orders(shipmentStatus: [UNRECOGNIZED])',
      '"shipmentStatus" must not contain UNRECOGNIZED, which is for output only.',
    ],
    [
      'shipments(courier: "orders/1")',
      'Expected an id of the form "couriers/<identifier>", but got "orders/1".',
    ],
    ...['orders', 'shipments'].map((records) => [
      `${records}(updatedSince: "2026-11-02T00:00:00Z", updatedUntil: "2026-11-01T00:00:00Z")`,
      'Expected "updatedSince" to be no later than "updatedUntil", ' +
        'but got 2026-11-02T00:00:00Z and 2026-11-01T00:00:00Z.',
    ]),
  ])('are refused without a call: %s', async (field, message) => {
    const { ask } = await open(shopOf(5));
    const { data, errors, calls } = await ask(list(field));
    expect({ data, calls }).toEqual({ data: { list: null }, calls: [] });
    expect(errors).toMatchObject([{ message, code: 'BAD_USER_INPUT' }]);
  });

  test.each([
    'orders(hasShipment: null, shipmentStatus: [])',
    'orders(hasShipment: null, shipmentStatus: null, updatedSince: null)',
    'shipments(status: [], courier: null, updatedUntil: null)',
  ])('mean all rows if they are empty: %s', async (field) => {
    const shop = shopOf(5);
    const { ask } = await open(shop);
    const { data, calls } = await ask(list(field));
    expect(data.list?.nodes).toHaveLength(5);
    expect(calls).toEqual([numbered(field.split('(')[0] ?? '', 20)]);
  });

  test('allow "hasShipment: false" with an empty shipmentStatus', async () => {
    const { ask } = await open(shopOf(5));
    const { data, errors } = await ask(list('orders(hasShipment: false, shipmentStatus: [])'));
    expect([data.list?.nodes, errors]).toEqual([[], undefined]);
  });

  const time = '2026-01-01T00:00:00Z';
  test.each([
    ['orders', 'hasShipment: true', 'hasShipment: false'],
    ['orders', 'shipmentStatus: [DELIVERED]', 'shipmentStatus: [RETURN]'],
    ['orders', 'shipmentStatus: [DELIVERED]', 'hasShipment: true'],
    ['orders', `updatedSince: "${time}"`, `updatedUntil: "${time}"`],
    ['orders', `updatedSince: "${time}"`, `createdSince: "${time}"`],
    ['shipments', 'courier: "a"', 'courier: "b"'],
    ['shipments', `updatedUntil: "${time}"`, `createdUntil: "${time}"`],
  ])('are part of the cursor of %s: a cursor of %s is invalid for %s', async (records, args, others) => {
    const { orders, shipments } = rowsOfSeed({ seed: 1, orderCount: 300, sorting: 'newest first' });
    for (const row of shipments) row.courier = 'couriers/a';
    const { ask } = await open(createShop(orders, shipments));
    const { data } = await ask(list(`${records}(first: 1, ${args})`));
    const after = `after: "${data.list?.pageInfo.endCursor}"`;
    const { errors, calls } = await ask(list(`${records}(first: 1, ${others}, ${after})`));
    expect(errors).toMatchObject([{ code: 'INVALID_CURSOR' }]);
    expect(calls).toEqual([]);
  });

  test.each(['condor-veloz', 'couriers/condor-veloz'])('accept %s as a courier', async (courier) => {
    const { orders, shipments } = rowsOfSeed({ seed: 2, orderCount: 300, sorting: 'newest first' });
    const { ask } = await open(createShop(orders, shipments));
    const { data, calls } = await ask(list(`shipments(first: 10, courier: "${courier}")`));
    const expected = shipments.filter((row) => row.courier === 'couriers/condor-veloz').slice(0, 10);
    expect(data.list?.nodes).toEqual(ids(expected));
    expect(calls).toEqual([numbered('shipments', 100)]);
  });
});

describe('updatedSince', () => {
  const rows = rowsOfSeed({ seed: 3, orderCount: 5_000, sorting: 'newest first' });
  // A day before the last change.
  const since = new Date(startMs + (5_000 + 6 * 1_440) * 60_000).toISOString();
  const changed = ids(rows.orders.filter(({ updateTime = '' }) => updateTime >= since));

  test('reads the list to its end, because old orders may have changed', async () => {
    const { ask } = await open(createShop(rows.orders, rows.shipments));
    const { data, calls } = await ask(list(`orders(first: 1000, updatedSince: "${since}")`));
    expect(data.list?.nodes).toEqual(changed);
    expect(calls).toHaveLength(5);
  });

  test('stops early if createdSince is given too', async () => {
    const { ask } = await open(createShop(rows.orders, rows.shipments));
    const created = rows.orders[500]?.createTime ?? '';
    const { data, calls } = await ask(
      list(`orders(first: 1000, updatedSince: "${since}", createdSince: "${created}")`),
    );
    const names = new Set(rows.orders.slice(0, 501).map(({ name }) => name));
    expect(data.list?.nodes).toEqual(changed.filter(({ id }) => names.has(id)));
    expect(calls).toHaveLength(2);
  });
});

describe('shipmentCounts.byCourier', () => {
  interface Counts {
    total: number;
    isExact: boolean;
    byStatus: { status: string; count: number }[];
    byCourier: { courier: { id: string } | null; total: number; byStatus: Counts['byStatus'] }[];
  }
  const query = `{ list: shipmentCounts {
    total isExact byStatus { status count }
    byCourier { courier { id code } total byStatus { status count } }
  } }`;
  const sums = (entries: Counts['byStatus']) => {
    const groups = Map.groupBy(entries, ({ status }) => status);
    return new Map(
      [...groups].map(([status, each]) => [status, each.reduce((sum, { count }) => sum + count, 0)]),
    );
  };

  test('counts every row, and costs no additional call', async () => {
    const rows = rowsOfSeed({ seed: 4, orderCount: 3_000, sorting: 'newest first' });
    const { ask } = await open(createShop(rows.orders, rows.shipments));
    const { data, calls } = await ask(query);
    const counts = data.list as unknown as Counts; // The document selects these.
    const plain = Map.groupBy(rows.shipments, ({ courier }) => courier ?? null);
    expect(new Map(counts.byCourier.map(({ courier, total }) => [courier?.id ?? null, total]))).toEqual(
      new Map([...plain].map(([courier, { length }]) => [courier, length])),
    );
    expect(plain.has(null)).toBe(true);
    expect(sums(counts.byCourier.flatMap(({ byStatus }) => byStatus))).toEqual(sums(counts.byStatus));
    expect(calls).toHaveLength(2);
  });

  test('adds up to the total even if 20 pages do not reach the end of the list', async () => {
    const shop = shopOf(20_500, (number) => (number % 7 === 0 ? 'LOST_AT_SEA' : 'RETURN'));
    for (const [index, row] of shop.shipments.entries())
      if (index % 3 > 0) row.courier = `couriers/c${index % 3}`;
    const { ask } = await open(shop);
    const { data, calls } = await ask(query);
    const counts = data.list as unknown as Counts; // The document selects these.
    expect([counts.total, counts.isExact, calls.length]).toEqual([20_000, false, 20]);
    expect(counts.byCourier.map(({ courier, total }) => [courier, total])).toEqual([
      [null, 6_667],
      [{ id: 'couriers/c1', code: 'c1' }, 6_667],
      [{ id: 'couriers/c2', code: 'c2' }, 6_666],
    ]);
    expect(sums(counts.byCourier.flatMap(({ byStatus }) => byStatus))).toEqual(sums(counts.byStatus));
  });

  test('has an error only at the courier if the name of the courier is invalid', async () => {
    const shop = shopOf(2);
    Object.assign(shop.shipments[0] ?? {}, { courier: 'trucks/1' });
    const { ask } = await open(shop);
    const { data, errors } = await ask(query);
    expect(data.list).toMatchObject({
      total: 2,
      byCourier: [
        { courier: null, total: 1 },
        { courier: null, total: 1 },
      ],
    });
    expect(errors).toMatchObject([{ path: 'list.byCourier.0.courier', code: 'UPSTREAM_INVALID_RESPONSE' }]);
  });
});
