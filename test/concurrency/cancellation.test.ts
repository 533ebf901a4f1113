import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { CancelSource, pause } from '../../src/concurrency/cancellation.ts';

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
