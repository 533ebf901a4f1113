import { expect, test } from 'vitest';
import { OperationScope } from '../../src/concurrency/operation-scope.ts';
import { TimeoutQueue } from '../../src/concurrency/timeout-queue.ts';
import { operationEnded, operationTimeout } from '../../src/rest/errors.ts';
import { createOperationScope } from '../fixtures/operation-scope.ts';
import { until } from '../fixtures/rest-service.ts';

test('each operation scope has its own timeout', async () => {
  const timeouts = new TimeoutQueue(20);
  const scopes = ['late', 'stopped', 'late as well', 'ended', 'never started'].map((name) => ({
    name,
    scope: new OperationScope(timeouts, operationTimeout),
  }));
  const [late, stopped, lateAsWell, ended] = scopes.map(({ scope }) => scope);
  for (const scope of [late, stopped, lateAsWell, ended]) scope?.startTimeout();
  stopped?.stopTimeout();
  ended?.end(operationEnded);
  await until(() => lateAsWell?.signal.aborted === true);
  const isUp = scopes.filter(({ scope }) => scope.deadlineSignal.aborted);
  expect(isUp.map(({ name }) => name)).toEqual(['late', 'late as well']);
  expect(scopes.map(({ scope }) => String(scope.signal.reason))).toEqual([
    'OperationDeadlineError: The operation did not finish within the time limit of 20 ms for operations',
    'undefined',
    'OperationDeadlineError: The operation did not finish within the time limit of 20 ms for operations',
    'NotNeededError: the operation no longer needs the response',
    'undefined',
  ]);
});

test('the remaining time of an operation decreases even after its timeout is stopped', async () => {
  const scope = createOperationScope(60_000);
  expect(scope.remainingMs()).toBe(60_000);
  scope.startTimeout();
  scope.stopTimeout();
  await until(() => scope.remainingMs() < 60_000);
  const left = scope.remainingMs();
  // It begins once.
  scope.startTimeout();
  expect(scope.remainingMs()).toBeLessThanOrEqual(left);
});
