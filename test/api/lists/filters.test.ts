import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBoardService } from '../../fixtures/board-service.ts';
import { shipmentStatuses } from '../../fixtures/shipment-statuses.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

interface Row {
  name: string;
  status: string;
  createTime: string;
}

let waybill: Waybill;
let shipments: Row[];
let orders: Row[];
let ordersOfSecond: Row[];
beforeAll(async () => {
  waybill = await startWaybill();
  shipments = await readAll('shipments');
  orders = await readAll('orders');
  ordersOfSecond = await readAll('orders', waybill.sandbox.tokens.second);
});
afterAll(() => waybill[Symbol.asyncDispose]());

/** All rows of a list of the sandbox, read from the sandbox. */
async function readAll(list: 'shipments' | 'orders', bearer = waybill.sandbox.tokens.first): Promise<Row[]> {
  const { url } = waybill.sandbox;
  const rows: Row[] = [];
  let pageToken = '';
  do {
    const response = await fetch(`${url}/v1/${list}?pageSize=1000${pageToken}`, {
      headers: { authorization: `Bearer ${bearer}` },
    });
    const page = (await response.json()) as { nextPageToken?: string } & Record<string, Row[]>;
    rows.push(...(page[list] ?? []));
    pageToken = page.nextPageToken ? `&pageToken=${page.nextPageToken}` : '';
  } while (pageToken !== '');
  return rows;
}

interface Connection {
  nodes: { id: string }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

async function page(field: string) {
  const { data, errors, calls } = await waybill.ask<{ list: Connection }, object>(
    `{ list: ${field} { nodes { id } pageInfo { hasNextPage endCursor } } }`,
  );
  return {
    list: data.list,
    errors,
    calls: calls.map(withoutToken),
    ids: data.list?.nodes.map(({ id }) => id),
  };
}

const names = (rows: readonly Row[]) => rows.map(({ name }) => name);
/** Another token of the first merchant, for which no counts are kept. */
const newToken = () => waybill.sandbox.issueToken(waybill.sandbox.tokens.first);

const call = (list: string, pageSize: number) => `GET /v1/${list}?pageSize=${pageSize}`;
const laterCall = (list: string) => `${call(list, 1_000)}&pageToken=…`;
const withoutToken = (line: string) => line.replace(/pageToken=[\w-]{32}/, 'pageToken=…');
/** The calls of a scan: a page with so many rows, then so many pages of 1,000 rows. */
const scan = (list: string, firstPageRows: number, laterPages: number, filters = '') =>
  [call(list, firstPageRows), ...Array.from({ length: laterPages }, () => laterCall(list))].map(
    (line) => line + filters,
  );

describe('shipments(status:)', () => {
  const inOnePage = [scan('shipments', 1_000, 2)];
  // The second page starts on the first REST page, and the third on the second.
  const delivered = [
    scan('shipments', 1_000, 0),
    scan('shipments', 1_000, 1),
    [laterCall('shipments'), laterCall('shipments')],
  ];

  test.each(shipmentStatuses)('returns all shipments with the status %s', async (status) => {
    const found: string[] = [];
    const cost: string[][] = [];
    let after = '';
    let hasNextPage = true;
    while (hasNextPage) {
      const { list, ids, calls } = await page(`shipments(status: ${status}, first: 700${after})`);
      found.push(...ids);
      cost.push(calls);
      hasNextPage = list.pageInfo.hasNextPage;
      after = `, after: "${list.pageInfo.endCursor}"`;
    }
    expect({ found, cost }).toEqual({
      found: names(shipments.filter((row) => row.status === status)),
      cost: status === 'DELIVERED' ? delivered : inOnePage,
    });
  });

  test('reads a page with five times as many rows as requested', async () => {
    const { ids, calls } = await page('shipments(status: DELIVERED, first: 30)');
    const matches = shipments.filter(({ status }) => status === 'DELIVERED').slice(0, 30);
    expect({ ids, calls }).toEqual({ ids: names(matches), calls: [call('shipments', 150)] });
  });

  test('costs one list call even if the operation also selects shipment(id:)', async () => {
    const { data, calls } = await waybill.ask<{ list: Connection; shipment: { status: string } }, object>(
      `{ list: shipments(status: DELIVERED) { nodes { id } } shipment(id: "${shipments[3]?.name}") { status } }`,
    );
    const matches = shipments.filter(({ status }) => status === 'DELIVERED').slice(0, 20);
    expect({ data, calls: calls.sort() }).toEqual({
      data: {
        list: { nodes: names(matches).map((id) => ({ id })) },
        shipment: { status: shipments[3]?.status },
      },
      calls: [`GET /v1/${shipments[3]?.name}`, call('shipments', 100)],
    });
  });
});

describe('a record by id in an operation that scans its list', () => {
  const later = () => `createdUntil: "${shipments[1_200]?.createTime}", first: 3`;
  const matches = () => shipments.slice(1_200, 1_203);
  const quotes = ['GET /v1/quotes/ca0887', 'GET /v1/quotes/ca0888', 'GET /v1/quotes/ca0889'];
  const ask = async (query: string) => {
    // The quotes lead to the orders. They come late, so that the pages of a scan are there before.
    const remove = waybill.sandbox.faults.add({ kind: 'delay', delayMs: 1_000, path: /^\/v1\/quotes\// });
    const { data, calls } = await waybill.ask<object, object>(query, {}, newToken());
    remove();
    return { data, calls: calls.map(withoutToken).sort() };
  };

  test('needs no call if a filtered list has scanned its row, even on a later page', async () => {
    const query = `{ shipments(${later()}) { nodes { order { shipment { id status } } } } }`;
    const nodes = matches().map(({ name, status }) => ({ order: { shipment: { id: name, status } } }));
    expect(await ask(query)).toEqual({
      data: { shipments: { nodes } },
      calls: [
        ...['GET /v1/orders/ca1030', 'GET /v1/orders/ca1031', 'GET /v1/orders/ca1032'],
        ...quotes,
        ...scan('shipments', 100, 2),
      ].sort(),
    });
  });

  test('costs one GET if the scan is only for counts', async () => {
    const fragment = 'fragment Named on Shipment { order { id status } }';
    const query = `{ shipments(${later()}) { nodes { ...Named } } orderCounts { total } } ${fragment}`;
    const nodes = ['orders/ca1032', 'orders/ca1031', 'orders/ca1030'].map((id) => ({
      order: { id, status: orders.find(({ name }) => name === id)?.status },
    }));
    expect(await ask(query)).toEqual({
      data: { shipments: { nodes }, orderCounts: { total: orders.length } },
      calls: [
        ...['GET /v1/orders/ca1030', 'GET /v1/orders/ca1031', 'GET /v1/orders/ca1032'],
        ...[...scan('orders', 1_000, 2), ...quotes, ...scan('shipments', 100, 2)],
      ].sort(),
    });
  });
});

describe('the filter by creation time', () => {
  const at = (rows: readonly Row[], index: number) => rows[index]?.createTime ?? '';

  test('includes rows that were created exactly at createdSince or createdUntil', async () => {
    const [since, until] = [at(orders, 8), at(orders, 3)];
    const { ids, calls } = await page(`orders(createdSince: "${since}", createdUntil: "${until}")`);
    expect({ ids, calls }).toEqual({ ids: names(orders.slice(3, 9)), calls: scan('orders', 100, 1) });
  });

  test('can be combined with the status filter of orders', async () => {
    const since = at(orders, 60);
    const { ids, calls } = await page(`orders(first: 100, status: [NEW, READY], createdSince: "${since}")`);
    const matches = orders.filter(
      ({ status, createTime }) => ['NEW', 'READY'].includes(status) && createTime >= since,
    );
    expect({ ids, calls }).toEqual({
      ids: names(matches),
      calls: scan('orders', 500, 0, '&status=NEW,READY'),
    });
  });

  test('can be combined with the status filter of shipments', async () => {
    const since = at(shipments, 40);
    const { ids, calls } = await page(`shipments(first: 100, status: DELIVERED, createdSince: "${since}")`);
    const matches = shipments.filter(
      ({ status, createTime }) => status === 'DELIVERED' && createTime >= since,
    );
    expect({ ids, calls }).toEqual({ ids: names(matches), calls: scan('shipments', 500, 1) });
  });

  test('can be combined with the search of orders', async () => {
    const { ids, calls } = await page('orders(search: "Lucia", createdSince: "2026-10-25T00:00:00Z")');
    expect({ ids, calls }).toEqual({
      ids: ['orders/ca2496', 'orders/ca2488', 'orders/ca2481', 'orders/ca2480'],
      calls: scan('orders', 100, 1, '&search=Lucia'),
    });
  });

  test.each(['orders', 'shipments'])(
    'is rejected without a call if createdUntil is before createdSince: %s',
    async (list) => {
      const { errors, ...answer } = await page(
        `${list}(createdSince: "2026-11-02T00:00:00Z", createdUntil: "2026-11-01T00:00:00Z")`,
      );
      expect(errors?.map(({ message, extensions: { code } }) => ({ message, code }))).toEqual([
        {
          message:
            'Expected "createdSince" to be no later than "createdUntil", ' +
            'but got 2026-11-02T00:00:00Z and 2026-11-01T00:00:00Z.',
          code: 'BAD_USER_INPUT',
        },
      ]);
      expect(answer).toEqual({ list: null, ids: undefined, calls: [] });
    },
  );
});

describe('a cursor of a filtered list', () => {
  const createdRange = ['createdSince', 'createdUntil'] as const;
  /** The answer to a list that continues with the cursor of another one. */
  const continued = async (filtered: string, other: string) => {
    const { list } = await page(`${filtered}, first: 5)`);
    const { errors, ids, calls } = await page(`${other}, after: "${list.pageInfo.endCursor}")`);
    return { code: errors?.[0]?.extensions.code, ids, calls };
  };
  const refused = { code: 'INVALID_CURSOR', ids: undefined, calls: [] };

  test('is rejected if the filter is different', async () => {
    const [filtered, other] = ['shipments(status: DELIVERED', 'shipments(status: WITH_ERROR'];
    expect(await continued(filtered, other)).toEqual(refused);
  });

  test('is rejected if the filter is omitted', async () => {
    expect(await continued('shipments(status: DELIVERED', 'shipments(first: 20')).toEqual(refused);
  });

  test.each(['orders', 'shipments'].flatMap((list) => createdRange.map((bound) => [list, bound])))(
    'of %s is rejected if %s is different',
    async (list, bound) => {
      const on = (day: string) => `${list}(${bound}: "2026-11-${day}T00:00:00Z"`;
      expect(await continued(on('01'), on('02'))).toEqual(refused);
    },
  );
});

test('a filtered list skips no order if orders leave the list between two pages', async () => {
  await using waybill = await startWaybill();
  const cost: string[] = [];
  const list = async (args: string) => {
    const { data, calls } = await waybill.ask<{ list: Connection }, object>(
      `{ list: orders(status: [NEW], ${args}) { nodes { id } pageInfo { hasNextPage endCursor } } }`,
    );
    cost.push(...calls);
    return { ids: data.list.nodes.map(({ id }) => id), ...data.list.pageInfo };
  };
  const shown: string[] = [];
  const since = 'first: 2, createdSince: "2020-01-01T00:00:00Z"';
  let page = await list(since);
  while (shown.length < 10 && page.ids.length > 0) {
    shown.push(...page.ids);
    const inputs = page.ids.map((id) => `{ id: "${id}", status: CONFIRMED }`);
    await waybill.ask(`mutation { updateOrders(inputs: [${inputs}]) { __typename } }`);
    page = await list(`${since}, after: "${page.endCursor}"`);
  }
  expect({ shown, cost }).toEqual({
    shown: names(orders.filter(({ status }) => status === 'NEW')),
    cost: [100, 102, 102, 102].map((pageSize) => `${call('orders', pageSize)}&status=NEW`),
  });
});

test.each([
  ['shipments', 'shipments(status: WITH_ERROR) { nodes { id } }', 100],
  ['orders', 'orderCounts { total }', 1_000],
])('a scan of %s fails at its third page if the read budget is two', async (list, field, firstPageRows) => {
  await using limited = await startWaybill(
    { UPSTREAM_READS_PER_OPERATION: '2' },
    { sandbox: waybill.sandbox },
  );
  const { data, errors, calls } = await limited.ask(`{ field: ${field} }`);
  expect({ data, errors, calls: calls.map(withoutToken) }).toMatchObject({
    data: { field: null },
    errors: [{ path: ['field'], extensions: { code: 'UPSTREAM_BUDGET_EXCEEDED', retryable: false } }],
    calls: scan(list, firstPageRows, 1),
  });
});

describe('the counts by status', () => {
  interface Counts {
    total: number;
    isExact: boolean;
    asOf: string;
    byStatus: { status: string; count: number }[];
  }
  const fields = '{ total isExact asOf byStatus { status count } }';
  const count = async (field: string, bearer?: string) => {
    const { data, calls } = await waybill.ask<{ counts: Counts }, object>(
      `{ counts: ${field} ${fields} }`,
      {},
      bearer,
    );
    return { counts: data.counts, calls: calls.map(withoutToken) };
  };
  const plainCounts = (rows: readonly Row[]) =>
    [...Map.groupBy(rows, ({ status }) => status)].map(([status, { length }]) => ({ status, count: length }));
  const exactCounts = (rows: readonly Row[]) => ({
    total: rows.length,
    isExact: true,
    asOf: expect.any(String),
    byStatus: plainCounts(rows),
  });

  test.each(['orders', 'shipments'] as const)('agree with a full read of the %s', async (list) => {
    const rows = list === 'orders' ? orders : shipments;
    const answer = await count(list === 'orders' ? 'orderCounts' : 'shipmentCounts', newToken());
    expect(answer).toEqual({ counts: exactCounts(rows), calls: scan(list, 1_000, 2) });
  });

  test('leave out shipments that are older than createdSince', async () => {
    const since = shipments[200]?.createTime ?? '';
    const rows = shipments.filter(({ createTime }) => createTime >= since);
    expect(await count(`shipmentCounts(createdSince: "${since}")`, newToken())).toEqual({
      counts: exactCounts(rows),
      calls: scan('shipments', 1_000, 1),
    });
  });

  test.each(['orders', 'shipments'])('are not exact if the list has more than 20 pages: %s', async (list) => {
    await using app = await startApp(createBoardService({ orderCount: 20_001 }).answer);
    const field = list === 'orders' ? 'orderCounts' : 'shipmentCounts';
    const { data } = await app.ask(`{ counts: ${field} { total isExact byStatus { status count } } }`);
    const laterCalls = Array.from({ length: 19 }, (_, index) => `&pageToken=${(index + 1) * 1_000}`);
    expect({ data, calls: app.calls() }).toEqual({
      data: {
        counts: { total: 20_000, isExact: false, byStatus: [{ status: 'DELIVERED', count: 20_000 }] },
      },
      calls: ['', ...laterCalls].map((token) => call(list, 1_000) + token),
    });
  });

  test('are cached until the next write with the same token', async () => {
    const token = newToken();
    const fresh = { counts: exactCounts(orders), calls: scan('orders', 1_000, 2) };
    const first = await count('orderCounts', token);
    expect(first).toEqual(fresh);
    expect(await count('orderCounts', token)).toEqual({ counts: first.counts, calls: [] });
    const write = 'mutation { updateOrder(input: { id: "ca2490", notes: "Counted" }) { __typename } }';
    await waybill.ask(write, {}, token);
    expect(await count('orderCounts', token)).toEqual(fresh);
  });

  test('are read again after a 401 for the token', async () => {
    const token = newToken();
    const fresh = { counts: exactCounts(shipments), calls: scan('shipments', 1_000, 2) };
    const first = await count('shipmentCounts', token);
    expect(first).toEqual(fresh);
    expect(await count('shipmentCounts', token)).toEqual({ counts: first.counts, calls: [] });
    waybill.sandbox.faults.add({ kind: 'status', status: 401, path: '/v1/organizations/mine', times: 1 });
    await waybill.ask('{ organization { id } }', {}, token);
    expect(await count('shipmentCounts', token)).toEqual(fresh);
  });

  test('are cached separately for each token', async () => {
    const ofFirst = await count('orderCounts', newToken());
    const ofSecond = await count('orderCounts', waybill.sandbox.tokens.second);
    expect([ofFirst, ofSecond]).toEqual([
      { counts: exactCounts(orders), calls: scan('orders', 1_000, 2) },
      { counts: exactCounts(ordersOfSecond), calls: scan('orders', 1_000, 0) },
    ]);
  });

  test('are cached separately for each list and createdSince', async () => {
    const token = newToken();
    await count('orderCounts', token);
    const since = shipments[2]?.createTime;
    expect([
      await count('shipmentCounts', token),
      await count(`shipmentCounts(createdSince: "${since}")`, token),
    ]).toEqual([
      { counts: exactCounts(shipments), calls: scan('shipments', 1_000, 2) },
      { counts: exactCounts(shipments.slice(0, 3)), calls: scan('shipments', 1_000, 1) },
    ]);
  });

  test('share their pages with filtered lists of the same operation', async () => {
    const query = `{
      counts: shipmentCounts ${fields}
      stuck: shipments(status: WITH_ERROR, first: 5) { nodes { id } }
      waiting: shipments(status: [READY_FOR_PICKUP], first: 50) { nodes { id } }
    }`;
    const { data, calls } = await waybill.ask(query, {}, newToken());
    const listOf = (status: string) => ({
      nodes: names(shipments.filter((row) => row.status === status)).map((id) => ({ id })),
    });
    expect({ data, calls: calls.map(withoutToken) }).toEqual({
      data: {
        counts: exactCounts(shipments),
        stuck: listOf('WITH_ERROR'),
        waiting: listOf('READY_FOR_PICKUP'),
      },
      calls: scan('shipments', 1_000, 2),
    });
  });
});
