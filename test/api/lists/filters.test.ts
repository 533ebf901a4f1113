import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shipmentStatuses } from '../../fixtures/shipment-statuses.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

interface Row {
  name: string;
  status: string;
  createTime: string;
}

let waybill: Waybill;
let shipments: Row[];
let orders: Row[];
beforeAll(async () => {
  waybill = await startWaybill();
  shipments = await readAll('shipments');
  orders = await readAll('orders');
});
afterAll(() => waybill[Symbol.asyncDispose]());

/** All rows of a list of the sandbox, read from the sandbox. */
async function readAll(list: 'shipments' | 'orders'): Promise<Row[]> {
  const { url, tokens } = waybill.sandbox;
  const rows: Row[] = [];
  let pageToken = '';
  do {
    const response = await fetch(`${url}/v1/${list}?pageSize=1000${pageToken}`, {
      headers: { authorization: `Bearer ${tokens.first}` },
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
  return { list: data.list, errors, calls, ids: data.list?.nodes.map(({ id }) => id) };
}

const names = (rows: readonly Row[]) => rows.map(({ name }) => name);
const call = (list: string, pageSize: number) => `GET /v1/${list}?pageSize=${pageSize}`;

describe('shipments(status:)', () => {
  test.each(shipmentStatuses)('returns all shipments with the status %s', async (status) => {
    const found: string[] = [];
    let after = '';
    let hasNextPage = true;
    while (hasNextPage) {
      const { list, ids } = await page(`shipments(status: ${status}, first: 700${after})`);
      found.push(...ids);
      hasNextPage = list.pageInfo.hasNextPage;
      after = `, after: "${list.pageInfo.endCursor}"`;
    }
    expect(found).toEqual(names(shipments.filter((row) => row.status === status)));
  });

  test('reads a page with five times as many rows as requested', async () => {
    const { ids, calls } = await page('shipments(status: DELIVERED, first: 30)');
    expect([ids.length, calls]).toEqual([30, [call('shipments', 150)]]);
  });

  test('costs one list call even if the operation also selects shipment(id:)', async () => {
    const { data, calls } = await waybill.ask<{ list: Connection; shipment: { status: string } }, object>(
      `{ list: shipments(status: DELIVERED) { nodes { id } } shipment(id: "${shipments[3]?.name}") { status } }`,
    );
    expect(data.shipment.status).toBe(shipments[3]?.status);
    expect(calls.filter((line) => line.startsWith('GET /v1/shipments?'))).toEqual([call('shipments', 100)]);
  });
});

describe('the rows of a scan answer ids of the same operation', () => {
  const later = () => `createdUntil: "${shipments[1_200]?.createTime}", first: 3`;
  const getsOf = async (list: string, fields: string) => {
    // The quotes lead to the orders. They come late, so that the pages of a scan are there before.
    const remove = waybill.sandbox.faults.add({ kind: 'delay', delayMs: 1_000, path: /^\/v1\/quotes\// });
    const { calls } = await waybill.ask<object, object>(`{ ${fields} }`);
    remove();
    expect(calls.filter((line) => line.startsWith('GET /v1/quotes/'))).toHaveLength(3);
    return calls.filter((line) => line.startsWith(`GET /v1/${list}/`));
  };

  test('on later pages of a filtered list', async () => {
    const fields = `shipments(${later()}) { nodes { order { shipment { status } } } }`;
    expect(await getsOf('shipments', fields)).toEqual([]);
  });

  test('in counts', async () => {
    const fields = `shipments(${later()}) { nodes { ...Named } } orderCounts { total }`;
    const fragment = '} fragment Named on Shipment { order { recipient { fullName } }';
    expect(await getsOf('orders', `${fields} ${fragment}`)).toEqual([]);
  });
});

describe('the filter by creation time', () => {
  const at = (rows: readonly Row[], index: number) => rows[index]?.createTime ?? '';

  test('includes rows that were created exactly at createdSince or createdUntil', async () => {
    const [since, until] = [at(orders, 8), at(orders, 3)];
    const { ids } = await page(`orders(createdSince: "${since}", createdUntil: "${until}")`);
    const inRange = orders.filter(({ createTime }) => createTime >= since && createTime <= until);
    expect(ids).toEqual(names(inRange));
  });

  test('can be combined with the status filter of orders', async () => {
    const since = at(orders, 60);
    const { ids, calls } = await page(`orders(first: 100, status: [NEW, READY], createdSince: "${since}")`);
    const matches = orders.filter(
      ({ status, createTime }) => ['NEW', 'READY'].includes(status) && createTime >= since,
    );
    expect(ids).toEqual(names(matches));
    expect(calls[0]).toBe('GET /v1/orders?pageSize=500&status=NEW,READY');
  });

  test('can be combined with the status filter of shipments', async () => {
    const since = at(shipments, 40);
    const { ids } = await page(`shipments(first: 100, status: DELIVERED, createdSince: "${since}")`);
    const matches = shipments.filter(
      ({ status, createTime }) => status === 'DELIVERED' && createTime >= since,
    );
    expect(ids).toEqual(names(matches));
  });

  test.each(['orders', 'shipments'])(
    'is rejected without a call if createdUntil is before createdSince: %s',
    async (list) => {
      const { errors, calls } = await page(
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
      expect(calls).toEqual([]);
    },
  );
});

describe('a cursor of a filtered list', () => {
  test('is rejected if the filter is different', async () => {
    const { list } = await page('shipments(status: DELIVERED, first: 5)');
    const { errors, calls } = await page(
      `shipments(status: WITH_ERROR, after: "${list.pageInfo.endCursor}")`,
    );
    expect([errors?.[0]?.extensions.code, calls]).toEqual(['INVALID_CURSOR', []]);
  });

  test('is rejected if the filter is omitted', async () => {
    const { list } = await page('shipments(status: DELIVERED, first: 5)');
    const { errors, calls } = await page(`shipments(after: "${list.pageInfo.endCursor}")`);
    expect([errors?.[0]?.extensions.code, calls]).toEqual(['INVALID_CURSOR', []]);
  });
});

test('a filtered list shows each order although the orders of each page leave it', async () => {
  await using waybill = await startWaybill();
  const list = async (args: string) => {
    const { data } = await waybill.ask<{ list: Connection }, object>(
      `{ list: orders(status: [NEW], ${args}) { nodes { id } pageInfo { hasNextPage endCursor } } }`,
    );
    return { ids: data.list.nodes.map(({ id }) => id), ...data.list.pageInfo };
  };
  const all = await list('first: 1000');
  const shown: string[] = [];
  let page = await list('first: 2, createdSince: "2020-01-01T00:00:00Z"');
  while (shown.length < all.ids.length && page.ids.length > 0) {
    shown.push(...page.ids);
    const inputs = page.ids.map((id) => `{ id: "${id}", status: CONFIRMED }`);
    await waybill.ask(`mutation { updateOrders(inputs: [${inputs}]) { __typename } }`);
    page = await list(`first: 2, createdSince: "2020-01-01T00:00:00Z", after: "${page.endCursor}"`);
  }
  expect(shown).toEqual(all.ids);
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
    return { counts: data.counts, calls };
  };
  const plainCounts = (rows: readonly Row[]) =>
    [...Map.groupBy(rows, ({ status }) => status)].map(([status, { length }]) => ({ status, count: length }));

  test.each(['orders', 'shipments'] as const)('agree with a full read of the %s', async (list) => {
    const rows = list === 'orders' ? orders : shipments;
    const { counts } = await count(list === 'orders' ? 'orderCounts' : 'shipmentCounts');
    expect(counts).toEqual({
      total: rows.length,
      isExact: true,
      asOf: expect.any(String),
      byStatus: plainCounts(rows),
    });
  });

  test('leave out shipments that are older than createdSince', async () => {
    const since = shipments[200]?.createTime ?? '';
    const rows = shipments.filter(({ createTime }) => createTime >= since);
    const { counts } = await count(`shipmentCounts(createdSince: "${since}")`);
    expect([counts.total, counts.byStatus]).toEqual([rows.length, plainCounts(rows)]);
  });

  test('are cached until the next write with the same token', async () => {
    const first = await count('orderCounts');
    const second = await count('orderCounts');
    expect([second.counts, second.calls]).toEqual([first.counts, []]);
    await waybill.ask('mutation { updateOrder(input: { id: "ca2490", notes: "Counted" }) { __typename } }');
    const third = await count('orderCounts');
    expect(third.calls).toEqual(expect.arrayContaining([call('orders', 1_000)]));
    expect(third.counts.total).toBe(first.counts.total);
  });

  test('are read again after a 401 for the token', async () => {
    await count('shipmentCounts');
    expect((await count('shipmentCounts')).calls).toEqual([]);
    waybill.sandbox.faults.add({ kind: 'status', status: 401, path: '/v1/organizations/mine', times: 1 });
    await waybill.ask('{ organization { id } }');
    expect((await count('shipmentCounts')).calls).toContain(call('shipments', 1_000));
  });

  test('are cached separately for each token', async () => {
    await count('orderCounts');
    const { counts, calls } = await count('orderCounts', waybill.sandbox.tokens.second);
    expect(calls[0]).toBe(call('orders', 1_000));
    expect(counts.total).not.toBe(orders.length);
  });

  test('share their pages with filtered lists of the same operation', async () => {
    await waybill.ask('mutation { updateOrder(input: { id: "ca2490", notes: "Dashboard" }) { __typename } }');
    const { calls } = await waybill.ask(`{
      shipmentCounts ${fields}
      stuck: shipments(status: WITH_ERROR, first: 5) { nodes { id } }
      waiting: shipments(status: [READY_FOR_PICKUP], first: 50) { nodes { id status } }
    }`);
    expect(new Set(calls).size).toBe(calls.length);
    expect(calls[0]).toBe(call('shipments', 1_000));
    expect(calls).toHaveLength(Math.ceil(shipments.length / 1_000));
  });
});
