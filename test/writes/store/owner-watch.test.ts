import { expect, test } from 'vitest';
import { createOwnerWatch } from '../../../src/writes/store/owner-watch.ts';

const leaseMs = 4_000;

/** Lets a watch read every 500 ms from `fromMs` to `toMs`. @returns when each owner was found silent for the first time. */
function watchFrom(
  fromMs: number,
  toMs: number,
  renewalsAt: (atMs: number) => Record<string, string>,
  watch = createOwnerWatch(leaseMs),
) {
  const silentAtMs: Record<string, number> = {};
  for (let atMs = fromMs; atMs <= toMs; atMs += 500) {
    const seen = new Map(Object.entries(renewalsAt(atMs)));
    for (const { owner } of watch.see(seen, atMs, atMs + 10)) silentAtMs[owner] ??= atMs;
  }
  return silentAtMs;
}

test('an owner that renews is never silent', () => {
  expect(watchFrom(0, 60_000, (atMs) => ({ owner: String(Math.floor(atMs / 3_000)) }))).toEqual({});
});

test('an owner is silent one lease after its last renewal was seen', () => {
  const renewals = (atMs: number) => ({ dead: String(Math.min(atMs, 10_000)), alive: String(atMs) });
  // The answer of the read at 10,000 ms came 10 ms later.
  expect(watchFrom(0, 20_000, renewals)).toEqual({ dead: 14_500 });
});

test('a renewal count that goes back is a sign of life', () => {
  expect(watchFrom(0, 6_000, (atMs) => ({ owner: atMs < 3_000 ? '7' : '5' }))).toEqual({});
});

test('an owner gets a whole lease after a pause of the watch', () => {
  const watch = createOwnerWatch(leaseMs);
  expect(watchFrom(0, 3_000, () => ({ owner: '1' }), watch)).toEqual({});
  expect(watchFrom(60_000, 63_500, () => ({ owner: '1' }), watch)).toEqual({});
  expect(watchFrom(64_000, 65_000, () => ({ owner: '1' }), watch)).toEqual({ owner: 64_500 });
});

test('an owner gets a whole lease after a failover', () => {
  const watch = createOwnerWatch(leaseMs);
  watchFrom(0, 3_500, () => ({ owner: '1' }), watch);
  watch.forget();
  expect(watchFrom(4_000, 9_000, () => ({ owner: '1' }), watch)).toEqual({ owner: 8_500 });
});
