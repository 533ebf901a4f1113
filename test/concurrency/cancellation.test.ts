import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CancelSource, pause, untilAborted } from '../../src/concurrency/cancellation.ts';

test('an abort calls each remaining listener once', () => {
  const cancelSource = new CancelSource();
  const notified: string[] = [];
  const gone = () => notified.push('gone');
  const late = () => notified.push('late');
  cancelSource.addEventListener('abort', gone);
  cancelSource.addEventListener('abort', () => {
    notified.push(`first: ${cancelSource.reason}`);
    cancelSource.removeEventListener('abort', late);
    cancelSource.addEventListener('abort', gone);
  });
  cancelSource.addEventListener('abort', late);
  cancelSource.addEventListener('abort', () => notified.push('last'));
  cancelSource.removeEventListener('abort', gone);
  expect([cancelSource.aborted, notified]).toEqual([false, []]);
  cancelSource.abort('enough');
  cancelSource.abort('again');
  cancelSource.addEventListener('abort', gone);
  expect([cancelSource.aborted, cancelSource.reason, notified]).toEqual([
    true,
    'enough',
    ['first: enough', 'last'],
  ]);
});

test('pause() leaves no abort listener behind', async () => {
  const client = new AbortController();
  const { signal } = client;
  const startedAtMs = performance.now();
  await pause(20, signal);
  expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(18);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const long = pause(60_000, signal);
  client.abort();
  await long;
  await pause(60_000, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each([
  ['before the wait', true],
  ['during the wait', false],
])('untilAborted() handles a later error of its promise after an abort %s', async (_when, isBefore) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    const cancelSource = new CancelSource();
    if (isBefore) cancelSource.abort('enough');
    const { promise, reject } = Promise.withResolvers<void>();
    const waited = untilAborted(promise, cancelSource);
    cancelSource.abort('enough');
    expect(await waited).toBeUndefined();
    reject(new Error('late'));
    await setImmediate();
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
