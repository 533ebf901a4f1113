import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { CancelSource, pause } from '../../src/concurrency/cancellation.ts';
import { createOperationScope } from '../../src/concurrency/operation-scope.ts';

test('all who listen hear of it once, unless they have stopped, be it on the way', () => {
  const cancelSource = new CancelSource();
  const onCallFinished: string[] = [];
  const gone = () => onCallFinished.push('gone');
  const late = () => onCallFinished.push('late');
  cancelSource.addEventListener('abort', gone);
  cancelSource.addEventListener('abort', () => {
    onCallFinished.push(`first: ${cancelSource.reason}`);
    cancelSource.removeEventListener('abort', late);
  });
  cancelSource.addEventListener('abort', late);
  cancelSource.addEventListener('abort', () => onCallFinished.push('last'));
  cancelSource.removeEventListener('abort', gone);
  expect([cancelSource.aborted, onCallFinished]).toEqual([false, []]);
  cancelSource.abort('enough');
  cancelSource.abort('again');
  cancelSource.addEventListener('abort', gone);
  expect([cancelSource.aborted, cancelSource.reason, onCallFinished]).toEqual([
    true,
    'enough',
    ['first: enough', 'last'],
  ]);
});

test('work goes on until all have given up who wait for it, each of whom counts once', () => {
  const scope = createOperationScope();
  const { signal } = scope;
  const [first, second] = [scope.join(), scope.join()];
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
