import { describe, expect, test } from 'vitest';
import { answerJson } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const createTime = '2026-11-01T12:00:00Z';
const firstPage = (list: string, pageSize: number) => [`GET /v1/${list}?pageSize=${pageSize}`];

/** Asks for a field, named `field`, of lists with these rows. */
async function ask(rows: readonly object[], field: string) {
  const named = (list: string) => rows.map((row, index) => ({ name: `${list}/${index}`, ...row }));
  const lists = { orders: named('orders'), shipments: named('shipments'), nextPageToken: '' };
  await using app = await startApp(answerJson(lists));
  const { data, errors } = await app.ask(`{ field: ${field} }`);
  return { data, errors, calls: app.calls() };
}

const listed = (...ids: string[]) => ({ field: { nodes: ids.map((id) => ({ id })) } });
const counted = (total: number, ...byStatus: object[]) => ({ field: { total, isExact: true, byStatus } });
const counts = '{ total isExact byStatus { status count } }';

describe('a row without a status', () => {
  const rows = [{ createTime, status: 'CANCELLED' }, { createTime }, { createTime, status: null }];

  test('matches no status filter', async () => {
    expect(await ask(rows, 'shipments(status: [CANCELLED, DELIVERED]) { nodes { id } }')).toEqual({
      data: listed('shipments/0'),
      errors: undefined,
      calls: firstPage('shipments', 100),
    });
  });

  test.each([
    ['orders', 'orderCounts'],
    ['shipments', 'shipmentCounts'],
  ])('is in no count of %s, and not in the total', async (list, field) => {
    expect(await ask(rows, field + counts)).toEqual({
      data: counted(1, { status: 'CANCELLED', count: 1 }),
      errors: undefined,
      calls: firstPage(list, 1_000),
    });
  });
});

describe('a row without a time', () => {
  const status = 'CANCELLED';
  const rows = [
    { status, createTime },
    { status },
    { status, createTime: null },
    { status, createTime: 'soon' },
  ];

  test.each([
    ['orders', 'createdSince: "1970-01-01T00:00:00Z"'],
    ['orders', 'createdUntil: "2999-01-01T00:00:00Z"'],
    ['shipments', 'createdSince: "1970-01-01T00:00:00Z"'],
    ['shipments', 'createdUntil: "2999-01-01T00:00:00Z"'],
  ])('is not in %s(%s)', async (list, filter) => {
    expect(await ask(rows, `${list}(${filter}) { nodes { id } }`)).toEqual({
      data: listed(`${list}/0`),
      errors: undefined,
      calls: firstPage(list, 100),
    });
  });

  test.each([
    ['orders', 'orderCounts'],
    ['shipments', 'shipmentCounts'],
  ])('is in no count of %s if createdSince is given', async (list, field) => {
    expect(await ask(rows, `${field}(createdSince: "1970-01-01T00:00:00Z") ${counts}`)).toEqual({
      data: counted(1, { status, count: 1 }),
      errors: undefined,
      calls: firstPage(list, 1_000),
    });
  });
});

test.each([
  ['orders', 'orderCounts'],
  ['shipments', 'shipmentCounts'],
])('counts of %s have one UNRECOGNIZED entry for two unknown statuses', async (list, field) => {
  const rows = ['LOST', 'CANCELLED', 'HELD', 'LOST'].map((status) => ({ status }));
  expect(await ask(rows, field + counts)).toEqual({
    data: counted(4, { status: 'UNRECOGNIZED', count: 3 }, { status: 'CANCELLED', count: 1 }),
    errors: undefined,
    calls: firstPage(list, 1_000),
  });
});
