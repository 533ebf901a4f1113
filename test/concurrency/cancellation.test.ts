import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Canceller, pause } from '../../src/concurrency/cancellation.ts';
import { createLifetime } from '../../src/concurrency/operation-scope.ts';

test('all who listen hear of it once, unless they have stopped, be it on the way', () => {
  const canceller = new Canceller();
  const heard: string[] = [];
  const gone = () => heard.push('gone');
  const late = () => heard.push('late');
  canceller.addEventListener('abort', gone);
  canceller.addEventListener('abort', () => {
    heard.push(`first: ${canceller.reason}`);
    canceller.removeEventListener('abort', late);
  });
  canceller.addEventListener('abort', late);
  canceller.addEventListener('abort', () => heard.push('last'));
  canceller.removeEventListener('abort', gone);
  expect([canceller.aborted, heard]).toEqual([false, []]);
  canceller.abort('enough');
  canceller.abort('again');
  canceller.addEventListener('abort', gone);
  expect([canceller.aborted, canceller.reason, heard]).toEqual([true, 'enough', ['first: enough', 'last']]);
});

test('work goes on until all have given up who wait for it, each of whom counts once', () => {
  const lifetime = createLifetime();
  const { signal } = lifetime;
  const [first, second] = [lifetime.join(), lifetime.join()];
  first('gone');
  first('gone');
  expect(signal.aborted).toBe(false);
  second('gone too');
  expect([signal.aborted, signal.reason]).toEqual([true, 'gone too']);
});

test('a pause ends with its time, or as its signal aborts, and leaves no listener', async () => {
  const client = new AbortController();
  const { signal } = client;
  const startedAt = performance.now();
  await pause(20, signal);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(18);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const long = pause(60_000, signal);
  client.abort();
  await long;
  await pause(60_000, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
