import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Answer } from '../../../src/server/live/answer.ts';
import type { Look, LookOutcome, LookResult, Watcher } from '../../../src/server/live/watch.ts';
import { Watches } from '../../../src/server/live/watches.ts';
import type { Tenant } from '../../../src/tenancy/tenant.ts';

// The clock stands still between the ticks that a test makes.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const intervalMs = 2_000;

interface Stage {
  tenant: Tenant;
  outcomes: LookOutcome[];
  /** The times of the looks, in seconds since the first one. */
  looksAt: number[];
  /** What the next looks see. */
  state: { value: unknown; result?: LookResult | undefined };
  lookCount(): number;
  join(watcher?: Watcher): () => void;
  watches: Watches;
}

function stage({ random = 0, hold }: { random?: number; hold?: Promise<void> } = {}): Stage {
  const outcomes: LookOutcome[] = [];
  const looksAt: number[] = [];
  const startedAtMs = Date.now();
  const state: Stage['state'] = { value: 1 };
  const tenant: Tenant = { id: 'tenant', writes: 0 };
  const watches = new Watches({
    intervalMs,
    clock: { now: () => Date.now(), random: () => random },
    onLook: (outcome) => outcomes.push(outcome),
  });
  const look = async ({ onAbort }: Look): Promise<LookResult> => {
    looksAt.push((Date.now() - startedAtMs) / 1_000);
    const { value, result } = state;
    const aborted = new Promise<void>((resolve) => onAbort(() => resolve()));
    if (hold !== undefined) await Promise.race([hold, aborted]);
    return result ?? answer(value);
  };
  return {
    tenant,
    outcomes,
    looksAt,
    state,
    lookCount: () => looksAt.length,
    join: (watcher = recorder()) => watches.join(tenant, 'operation', look, watcher),
    watches,
  };
}

const answer = (value: unknown, errors?: readonly object[]) =>
  // A look gets errors as clients see them. `toJSON` is all that an answer reads of them besides their members.
  new Answer({ data: { value }, ...(errors && { errors: errors.map(asError) }) } as never, { value }, 0);

const asError = (error: object) => ({ ...error, toJSON: () => error });

/** Records what it takes. */
function recorder(): Watcher & { values: unknown[] } {
  const values: unknown[] = [];
  return {
    // Only the operation runner reads the response of a watcher.
    response: {} as ServerResponse,
    values,
    take: (taken) => values.push(taken.key),
  };
}

const keyOf = (value: unknown) => answer(value).key;

/** Lets time pass, with its ticks. */
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(1_000 * seconds);

test('a watch looks at once, then on each tick while the answer changes', async () => {
  const { join, looksAt, state } = stage();
  const watcher = recorder();
  join(watcher);
  for (const value of [2, 3, 4]) {
    await pass(1);
    state.value = value;
    await pass(1);
  }
  expect(looksAt).toEqual([0, 2, 4, 6]);
  expect(watcher.values).toEqual([1, 2, 3, 4].map(keyOf));
});

test('a watch doubles its interval up to 30 seconds while nothing changes', async () => {
  const { join, looksAt } = stage();
  join();
  await pass(120);
  expect(looksAt).toEqual([0, 2, 6, 14, 30, 60, 90, 120]);
});

test('a watch returns to the shortest interval after a change', async () => {
  const { join, looksAt, state } = stage();
  join();
  await pass(29);
  state.value = 2;
  await pass(5);
  expect(looksAt.slice(4)).toEqual([30, 32]);
});

test('a watch shortens intervals by up to 15 %, but not below the shortest interval', async () => {
  const { join, looksAt } = stage({ random: 1 });
  join();
  await pass(60);
  // 2, 3.4, 6.8, 13.6 and 25.5 seconds, each up to the next tick, within half of a tick.
  expect(looksAt).toEqual([0, 2, 6, 12, 26, 52]);
});

test('a watch looks at least every eight seconds during a retryable error', async () => {
  const { join, looksAt, state } = stage();
  join();
  await pass(29);
  state.result = answer(null, [{ message: 'away', extensions: { retryable: true } }]);
  await pass(31);
  expect(looksAt.slice(4)).toEqual([30, 32, 36, 44, 52, 60]);
});

test('a watch slows down to 30 seconds during an error that is not retryable', async () => {
  const { join, looksAt, state } = stage();
  state.result = answer(null, [{ message: 'broken', extensions: { retryable: false } }]);
  join();
  await pass(60);
  expect(looksAt).toEqual([0, 2, 6, 14, 30, 60]);
});

test('a watch slows down to 30 seconds while REST limits the rate', async () => {
  const { join, looksAt, state } = stage();
  state.result = answer(null, [{ message: 'slowly', extensions: { code: 'RATE_LIMITED', retryable: true } }]);
  join();
  await pass(120);
  expect(looksAt).toEqual([0, 4, 12, 28, 58, 88, 118]);
});

test('a watch looks on the next tick after a write of the same token', async () => {
  const { join, looksAt, tenant } = stage();
  join();
  await pass(31);
  tenant.writes += 1;
  await pass(5);
  expect(looksAt.slice(4)).toEqual([30, 32, 34]);
});

test('a watch serves all watchers of one operation with one look per tick', async () => {
  const { join, looksAt } = stage();
  for (let count = 0; count < 100; count += 1) join();
  await pass(2);
  // The first look is that of the first watcher. The second one is for those who came meanwhile.
  expect(looksAt).toEqual([0, 0, 2]);
});

test('a watch gives a new watcher the answer of a look that starts after the join', async () => {
  const held = Promise.withResolvers<void>();
  const { join, lookCount, state } = stage({ hold: held.promise });
  join();
  state.value = 2;
  const late = recorder();
  join(late);
  expect(lookCount()).toBe(1);
  held.resolve();
  await pass(0);
  expect(lookCount()).toBe(2);
  expect(late.values).toEqual([keyOf(2)]);
});

test('a watch keeps its interval when another stream joins', async () => {
  const { join, looksAt } = stage();
  join();
  await pass(0);
  for (let count = 0; count < 5; count += 1) {
    join();
    await pass(0);
  }
  await pass(2);
  expect(looksAt).toEqual([0, 0, 0, 0, 0, 0, 2]);
});

test('a watch ends its running look when the last watcher leaves', async () => {
  const { join, lookCount, outcomes, watches } = stage({ hold: new Promise(() => {}) });
  const leave = join();
  const leaveToo = join();
  leave();
  expect(outcomes).toEqual([]);
  leaveToo();
  await pass(60);
  expect(outcomes).toEqual(['left']);
  expect(lookCount()).toBe(1);
  expect(watches.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a watch starts again for a watcher that joins after all have left', async () => {
  const { join, looksAt } = stage();
  join()();
  await pass(10);
  join();
  await pass(2);
  expect(looksAt).toEqual([0, 10, 12]);
});

test('a watch sends no answer while it waits for points of the token', async () => {
  const { join, looksAt, outcomes, state } = stage();
  const watcher = recorder();
  state.result = 5_000;
  join(watcher);
  await pass(5);
  state.result = undefined;
  await pass(1);
  expect(looksAt).toEqual([0, 6]);
  expect(outcomes).toEqual(['waited', 'changed']);
  expect(watcher.values).toEqual([keyOf(1)]);
});

test.each([
  ['a Retry-After', { code: 'UPSTREAM_UNAVAILABLE', retryAfterMs: 9_000 }, [0, 10]],
  ['a Retry-After of a day', { code: 'UPSTREAM_UNAVAILABLE', retryAfterMs: 86_400_000 }, [0, 60]],
  ['an open circuit', { code: 'UPSTREAM_CIRCUIT_OPEN', retryAfterMs: 5_000 }, [0, 6]],
  ['a 429', { code: 'RATE_LIMITED' }, [0, 4]],
])('%s pauses all watches of the token', async (_what, extensions, expected) => {
  const { looksAt, state, join, watches, tenant } = stage();
  const otherLooksAt: number[] = [];
  const startedAtMs = Date.now();
  state.result = answer(null, [{ message: 'failed', path: ['value'], extensions }]);
  const values = { count: 0 };
  watches.join(
    tenant,
    'another operation',
    async () => {
      otherLooksAt.push((Date.now() - startedAtMs) / 1_000);
      values.count += 1;
      return answer(values.count);
    },
    recorder(),
  );
  join();
  await pass(0);
  state.result = undefined;
  await pass((expected[1] ?? 0) + 0.5);
  expect(looksAt).toEqual(expected);
  expect(otherLooksAt).toEqual(expected);
});

test('a pause of one token does not pause another token', async () => {
  const { state, join, watches } = stage();
  state.result = 60_000;
  join();
  const seen: number[] = [];
  const look = async () => answer(seen.push(seen.length));
  watches.join({ id: 'other', writes: 0 }, 'operation', look, recorder());
  await pass(6);
  expect(seen).toHaveLength(4);
});

test('a watch counts each look by its outcome', async () => {
  const { join, outcomes, state } = stage();
  join();
  await pass(2);
  state.result = answer(null, [
    { message: 'failed', path: ['value'], extensions: { code: 'UPSTREAM_ERROR' } },
  ]);
  await pass(4);
  expect(outcomes).toEqual(['changed', 'same', 'failed']);
});
