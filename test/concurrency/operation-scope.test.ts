import { expect, test } from 'vitest';
import { createLifetimes } from '../../src/concurrency/operation-scope.ts';
import { until } from '../fixtures/rest-service.ts';

test('the time of each lifetime begins and stops for itself, and what is answered in time is not ended', async () => {
  const newLifetime = createLifetimes(20);
  const lifetimes = ['late', 'stopped', 'late as well', 'ended', 'never started'].map((name) => ({
    name,
    lifetime: newLifetime(),
  }));
  const [late, stopped, lateAsWell, ended] = lifetimes.map(({ lifetime }) => lifetime);
  for (const lifetime of [late, stopped, lateAsWell, ended]) lifetime?.startClock();
  stopped?.stopClock();
  ended?.end();
  await until(() => lateAsWell?.signal.aborted === true);
  const isUp = lifetimes.filter(({ lifetime }) => lifetime.deadline.signal.aborted);
  expect(isUp.map(({ name }) => name)).toEqual(['late', 'late as well']);
  expect(lifetimes.map(({ lifetime }) => String(lifetime.signal.reason))).toEqual([
    'OperationDeadlineError: The operation was given up: an operation may take 20 ms, which have passed',
    'undefined',
    'OperationDeadlineError: The operation was given up: an operation may take 20 ms, which have passed',
    'NotNeededError: what it was wanted for is done',
    'undefined',
  ]);
});

test('what is left of a time is all of it until it begins, and less from then on, also once it is stopped', async () => {
  const lifetime = createLifetimes(60_000)();
  expect(lifetime.deadline.remainingMs()).toBe(60_000);
  lifetime.startClock();
  lifetime.stopClock();
  await until(() => lifetime.deadline.remainingMs() < 60_000);
  const left = lifetime.deadline.remainingMs();
  // It begins once.
  lifetime.startClock();
  expect(lifetime.deadline.remainingMs()).toBeLessThanOrEqual(left);
});

test('without a time there is no end', () => {
  for (const lifetime of [createLifetimes()(), createLifetimes(Number.POSITIVE_INFINITY)()]) {
    lifetime.startClock();
    expect(lifetime.deadline.remainingMs()).toBe(Number.POSITIVE_INFINITY);
    lifetime.stopClock();
  }
});
