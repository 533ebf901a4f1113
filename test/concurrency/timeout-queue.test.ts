import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type TimeoutEntry, TimeoutQueue } from '../../src/concurrency/timeout-queue.ts';
import { until } from '../fixtures/rest-service.ts';

function timed(onTimeout: () => void): TimeoutEntry {
  return { before: undefined, after: undefined, endsAtMs: undefined, onTimeout };
}

test('timeouts expire in the order in which they started, unless they are stopped', async () => {
  const timeouts = new TimeoutQueue(20);
  const timedOut: string[] = [];
  const [first, stopped, late, last] = ['first', 'stopped', 'late', 'last'].map((name) =>
    timed(() => {
      timedOut.push(name);
      if (name === 'first' && late !== undefined) timeouts.stop(late);
    }),
  );
  for (const one of [first, stopped, late]) if (one !== undefined) timeouts.start(one);
  if (stopped !== undefined) timeouts.stop(stopped);
  await pause(5);
  if (last !== undefined) timeouts.start(last);
  await until(() => timedOut.length === 2);
  expect(timedOut).toEqual(['first', 'last']);
});

test('a timeout that has expired can be started again', async () => {
  const timeouts = new TimeoutQueue(5);
  let ends = 0;
  const one = timed(() => {
    ends += 1;
    if (ends < 3) timeouts.start(one);
  });
  timeouts.start(one);
  await until(() => ends === 3);
  await pause(20);
  expect(ends).toBe(3);
  timeouts.start(one);
  await until(() => ends === 4);
});

test('a running timeout keeps no process alive', () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const timersBefore = timers();
  const timeouts = new TimeoutQueue(60_000);
  const one = timed(() => {});
  timeouts.start(one);
  expect(timers()).toBe(timersBefore);
  timeouts.stop(one);
});

test('one timer serves all running timeouts', () => {
  const setTimer = vi.spyOn(globalThis, 'setTimeout');
  const timeouts = new TimeoutQueue(60_000);
  const entries = [timed(() => {}), timed(() => {}), timed(() => {})];
  for (const entry of entries) timeouts.start(entry);
  for (const entry of entries) timeouts.stop(entry);
  expect(setTimer).toHaveBeenCalledOnce();
});

test('timeouts that start less than 1 ms apart expire together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const timeouts = new TimeoutQueue(20);
    const timedOut: string[] = [];
    const startedAtMs = performance.now();
    const clock = vi.spyOn(performance, 'now');
    for (const [name, afterMs] of [
      ['first', 0],
      ['near', 0.9],
      ['later', 2],
    ] as const) {
      clock.mockReturnValue(startedAtMs + afterMs);
      timeouts.start(timed(() => timedOut.push(name)));
    }
    clock.mockReturnValue(startedAtMs + 20);
    vi.advanceTimersByTime(20);
    expect(timedOut).toEqual(['first', 'near']);
    clock.mockReturnValue(startedAtMs + 22);
    vi.advanceTimersByTime(2);
    expect(timedOut).toEqual(['first', 'near', 'later']);
  } finally {
    vi.useRealTimers();
  }
});
