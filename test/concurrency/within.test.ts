import { afterEach, expect, test, vi } from 'vitest';
import { within } from '../../src/concurrency/within.ts';

afterEach(() => vi.useRealTimers());

test('a promise that settles in time gives its value or its error, and no timer stays', async () => {
  vi.useFakeTimers();
  await expect(within(1_000, Promise.resolve('value'))).resolves.toBe('value');
  await expect(within(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(vi.getTimerCount()).toBe(0);
});

test('a promise that is pending at the time limit gives undefined', async () => {
  vi.useFakeTimers();
  const { promise } = Promise.withResolvers<string>();
  const value = within(1_000, promise);
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(value).resolves.toBeUndefined();
});
