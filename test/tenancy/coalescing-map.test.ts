import { expect, test } from 'vitest';
import { CoalescingMap } from '../../src/tenancy/coalescing-map.ts';
import { stopSharingPendingReads, type Tenant } from '../../src/tenancy/tenant.ts';

const tenant = (id: string): Tenant => ({ id, writes: 0 });

test('pending work is found by its tenant and key', () => {
  const inFlight = new CoalescingMap<string>();
  const [ana, eva] = [tenant('ana'), tenant('eva')];
  inFlight.add(ana, 'a', 'work');
  inFlight.add(ana, 'b', 'other work');
  expect([inFlight.find(ana, 'a'), inFlight.find(ana, 'c'), inFlight.find(eva, 'a')]).toEqual([
    'work',
    undefined,
    undefined,
  ]);
  inFlight.remove(ana, 'a', 'work');
  expect([inFlight.find(ana, 'a'), inFlight.find(ana, 'b')]).toEqual([undefined, 'other work']);
});

test('work that has taken the place of other work stays when that ends', () => {
  const inFlight = new CoalescingMap<string>();
  const ana = tenant('ana');
  inFlight.add(ana, 'a', 'old');
  inFlight.add(ana, 'a', 'new');
  inFlight.remove(ana, 'a', 'old');
  expect(inFlight.find(ana, 'a')).toBe('new');
});

test('a write that ends hides what began before it, and nothing that begins after', () => {
  const inFlight = new CoalescingMap<string>();
  const [ana, eva] = [tenant('ana'), tenant('eva')];
  for (const each of [ana, eva]) inFlight.add(each, 'a', 'before');
  stopSharingPendingReads(ana);
  expect([inFlight.find(ana, 'a'), inFlight.find(eva, 'a')]).toEqual([undefined, 'before']);
  inFlight.add(ana, 'a', 'after');
  inFlight.remove(ana, 'a', 'before');
  expect(inFlight.find(ana, 'a')).toBe('after');
});

test('pending work stays, and ended work is gone, however much comes and goes', () => {
  const inFlight = new CoalescingMap<number>();
  const ana = tenant('ana');
  inFlight.add(ana, 'stays', 1);
  for (let number = 0; number < 10_000; number += 1) {
    inFlight.add(ana, `${number}`, number);
    inFlight.remove(ana, `${number - 500}`, number - 500);
  }
  expect(['stays', '9499', '9500', '9999'].map((key) => inFlight.find(ana, key))).toEqual([
    1,
    undefined,
    9_500,
    9_999,
  ]);
});

test('nothing is kept for a tenant without pending work, also if a write has ended meanwhile', () => {
  const inFlight = new CoalescingMap<string>();
  const ana = tenant('ana');
  const kept = () => Object.getOwnPropertySymbols(ana).map((key) => Reflect.get(ana, key));
  inFlight.add(ana, 'a', 'work');
  inFlight.remove(ana, 'a', 'work');
  expect(kept()).toEqual([undefined]);
  inFlight.add(ana, 'a', 'work');
  stopSharingPendingReads(ana);
  inFlight.remove(ana, 'a', 'work');
  expect(kept()).toEqual([undefined]);
});
