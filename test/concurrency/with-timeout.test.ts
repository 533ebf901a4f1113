import { afterEach, expect, test, vi } from 'vitest';
import { withTimeout } from '../../src/concurrency/with-timeout.ts';

afterEach(() => vi.useRealTimers());

test('withTimeout returns the outcome of a promise that settles in time', async () => {
  vi.useFakeTimers();
  await expect(withTimeout(1_000, Promise.resolve('value'))).resolves.toBe('value');
  await expect(withTimeout(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(vi.getTimerCount()).toBe(0);
});

test('withTimeout returns undefined if the promise is still pending at the timeout', async () => {
  vi.useFakeTimers();
  const { promise } = Promise.withResolvers<string>();
  const value = withTimeout(1_000, promise);
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(value).resolves.toBeUndefined();
});
