import { expect, test, vi } from 'vitest';
import { KeptCounts, type StatusCounts } from '../../../src/loaders/scan/count-by-status.ts';
import { Tenants } from '../../../src/tenancy/tenant.ts';

function create(mayBeKept = true) {
  const tenant = new Tenants().of('token');
  const kept = new KeptCounts();
  let counted = 0;
  const count = async (): Promise<StatusCounts> => {
    counted += 1;
    const byStatus = new Map([['NEW', counted]]);
    return { byStatus, byCourier: new Map(), isExact: true, asOf: '2026-01-01T00:00:00Z', mayBeKept };
  };
  /** The counts with this key, and how often has been counted after the request for them. */
  const get = async (key = 'orders') => {
    const { byStatus } = await kept.get(key, tenant, count);
    return [byStatus.get('NEW'), counted];
  };
  return { tenant, kept, count, get };
}

test('counts are cached for 30 seconds', async () => {
  let nowMs = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const { get } = create();
  expect(await get()).toEqual([1, 1]);
  nowMs = 31_000;
  expect(await get()).toEqual([1, 1]);
  nowMs = 31_001;
  expect(await get()).toEqual([2, 2]);
});

test('counts are not reused after a write with the same token', async () => {
  const { tenant, kept, count, get } = create();
  await kept.get('orders', tenant, async () => {
    tenant.writes += 1;
    return count();
  });
  expect(await get()).toEqual([2, 2]);
  tenant.writes += 1;
  expect(await get()).toEqual([3, 3]);
});

test('counts of only some pages are not cached', async () => {
  const { get } = create(false);
  expect(await get()).toEqual([1, 1]);
  expect(await get()).toEqual([2, 2]);
});

test('the cache evicts the oldest count if it has more than 20 counts', async () => {
  const { get } = create();
  for (let key = 0; key <= 20; key += 1) await get(String(key));
  expect(await get('1')).toEqual([2, 21]);
  expect(await get('0')).toEqual([22, 22]);
});
