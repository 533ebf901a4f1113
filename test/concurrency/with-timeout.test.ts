import { afterEach, expect, test, vi } from 'vitest';
import { withTimeout } from '../../src/concurrency/with-timeout.ts';

afterEach(() => vi.useRealTimers());

test('a promise that settles in time returns its outcome, and leaves no timer', async () => {
  vi.useFakeTimers();
  await expect(withTimeout(1_000, Promise.resolve('value'))).resolves.toBe('value');
  await expect(withTimeout(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(vi.getTimerCount()).toBe(0);
});

test('a promise that is pending at the time limit returns undefined', async () => {
  vi.useFakeTimers();
  const { promise } = Promise.withResolvers<string>();
  const value = withTimeout(1_000, promise);
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(value).resolves.toBeUndefined();
});
