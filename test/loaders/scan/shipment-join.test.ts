import { describe, expect, test } from 'vitest';
import { neverAborted } from '../../../src/concurrency/cancellation.ts';
import { noDeadline } from '../../../src/concurrency/operation-scope.ts';
import { recordLoader } from '../../../src/loaders/record-loader.ts';
import { ShipmentJoin } from '../../../src/loaders/scan/shipment-join.ts';
import type { PageQuery } from '../../../src/rest/api-types.ts';
import type { OrderJson, ShipmentJson } from '../../../src/rest/wire-schema.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';

const time = (minutes: number) =>
  new Date(Date.parse('2026-01-01T00:00:00Z') + minutes * 60_000).toISOString();
const order = (number: number, createTime = time(number)): OrderJson =>
  // The join reads no other fields.
  ({ name: `orders/${number}`, createTime, shipment: `shipments/${number}` }) as OrderJson;
const orders = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => order(from - index));

/** A join with a list of so many shipments, newest first, and with the calls that it makes. */
function createJoin(count: number, isTimed = true) {
  const calls: string[] = [];
  let remainingMs = 30_000;
  const rows = Array.from({ length: count }, (_, index): ShipmentJson => {
    const number = count - index;
    const createTime = isTimed ? time(number) : undefined;
    return { name: `shipments/${number}`, status: 'DELIVERED', createTime } as ShipmentJson;
  });
  const callContext = createCallContexts().of('token', neverAborted, {
    ...noDeadline,
    remainingMs: () => remainingMs,
  });
  const join = new ShipmentJoin({
    async list({ pageSize, pageToken }: PageQuery) {
      calls.push(`${pageSize}${pageToken === undefined ? '' : `@${pageToken}`}`);
      const start = Number(pageToken ?? 0);
      const end = start + pageSize;
      return {
        rows: rows.slice(start, end),
        nextPageToken: end < rows.length ? String(end) : undefined,
      };
    },
    async get(name) {
      calls.push(name);
      return { name, status: 'RETURN' } as ShipmentJson; // The join reads no other fields.
    },
    maxPageSize: 1_000,
    byName: recordLoader(() => Promise.reject(new Error('no record is loaded'))),
    callContext,
  });
  /** Reads until all these shipments are known. @returns whether they are */
  const readAll = async (wanted: readonly OrderJson[]): Promise<boolean> => {
    const unknown = wanted.filter((each) => join.statusOf(each) === undefined);
    if (unknown.length === 0) return true;
    return (await join.readMore(unknown)) && readAll(wanted);
  };
  return {
    join,
    calls,
    readAll,
    letTimePass: () => {
      remainingMs = 14_000;
    },
    callContext,
  };
}

describe('the shipments of orders', () => {
  test('are read from the page of a cursor, then from the start, each row once', async () => {
    const { join, calls, readAll } = createJoin(3_500, false);
    join.start('2000', []);
    expect(await readAll(orders(1_450, 1_401))).toBe(true);
    expect(calls.splice(0)).toEqual(['100@2000']);
    expect(await readAll(orders(3_500, 3_450))).toBe(true);
    expect(calls.splice(0)).toEqual(['1000@2100', '1000@3100', '1000']);
    expect(await readAll(orders(2_400, 2_300))).toBe(true);
    expect(calls.splice(0)).toEqual(['1000@1000']);
    // The whole list has been read.
    expect(await readAll(orders(3_504, 3_500))).toBe(true);
    expect(calls).toEqual([3_504, 3_503, 3_502, 3_501].map((number) => `shipments/${number}`));
  });

  test('are read by id if the order of the list proves that no later page has them', async () => {
    const { join, calls, readAll } = createJoin(5_000);
    join.start(undefined, []);
    expect(await readAll(orders(5_000, 4_500))).toBe(true);
    expect(calls.splice(0)).toEqual(['501']);
    // Newer than the list, as if they had been shipped just now.
    expect(await readAll([...orders(4_400, 4_390), ...orders(5_010, 5_001)])).toBe(true);
    expect(calls.splice(0)).toEqual([
      '1000@501',
      ...Array.from({ length: 10 }, (_, index) => `shipments/${5_010 - index}`),
    ]);
  });

  test('are read by id only after the end of the list if rows have no times', async () => {
    const { join, calls, readAll } = createJoin(1_500, false);
    join.start(undefined, []);
    expect(await readAll(orders(1_505, 1_501))).toBe(true);
    expect(calls.splice(0, 3)).toEqual(['100', '1000@100', '1000@1100']);
    expect(calls).toHaveLength(5);
  });

  test('are read by id for 50 orders at most', async () => {
    const { join, calls, readAll } = createJoin(10);
    join.start(undefined, []);
    expect(await readAll(orders(200, 100))).toBe(false);
    expect(calls.filter((call) => call.startsWith('shipments/'))).toHaveLength(50);
    expect([join.statusOf(order(151)), join.statusOf(order(150))]).toEqual(['RETURN', undefined]);
  });

  test('take one page and four ids at most after half of the time of their operation', async () => {
    const { join, calls, readAll, letTimePass } = createJoin(5_000);
    join.start(undefined, []);
    letTimePass();
    expect(await readAll(orders(4_000, 3_950))).toBe(false);
    expect(calls).toEqual(['100', ...[4_000, 3_999, 3_998, 3_997].map((number) => `shipments/${number}`)]);
  });

  test('take no page if the operation has used its 20 scanned pages', async () => {
    const { join, calls, readAll, callContext } = createJoin(5_000);
    callContext.scanBudget.used = 20;
    join.start(undefined, []);
    expect(await readAll(orders(5_000, 4_900))).toBe(false);
    expect(calls).toHaveLength(4);
  });

  test('are not read by id if the operation may make no read', async () => {
    const { join, calls, readAll, callContext } = createJoin(10);
    join.start(undefined, []);
    expect(await readAll(orders(10, 6))).toBe(true);
    while (callContext.readsLeft() > 0) callContext.useReadBudget({ method: 'GET', path: '/v1/orders/1' });
    expect(await readAll(orders(200, 200))).toBe(false);
    expect(calls).toEqual(['100']);
    expect(join.statusOf(order(200))).toBeUndefined();
  });

  test('share each page between several fields', async () => {
    const { join, calls, readAll } = createJoin(5_000);
    join.start(undefined, []);
    expect(await Promise.all([readAll(orders(5_000, 4_950)), readAll(orders(4_960, 4_920))])).toEqual([
      true,
      true,
    ]);
    expect(calls).toEqual(['100']);
  });
});
