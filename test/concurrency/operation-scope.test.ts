import { expect, test } from 'vitest';
import { createOperationScopes } from '../../src/concurrency/operation-scope.ts';
import { operationScopeErrors } from '../../src/rest/errors.ts';
import { createOperationScope } from '../fixtures/operation-scope.ts';
import { until } from '../fixtures/rest-service.ts';

test('each scope has its own timeout', async () => {
  const newScope = createOperationScopes(operationScopeErrors, 20);
  const scopes = ['late', 'stopped', 'late as well', 'ended', 'never started'].map((name) => ({
    name,
    scope: newScope(),
  }));
  const [late, stopped, lateAsWell, ended] = scopes.map(({ scope }) => scope);
  for (const scope of [late, stopped, lateAsWell, ended]) scope?.startTimeout();
  stopped?.stopTimeout();
  ended?.end();
  await until(() => lateAsWell?.signal.aborted === true);
  const isUp = scopes.filter(({ scope }) => scope.deadline.signal.aborted);
  expect(isUp.map(({ name }) => name)).toEqual(['late', 'late as well']);
  expect(scopes.map(({ scope }) => String(scope.signal.reason))).toEqual([
    'OperationDeadlineError: The operation exceeded the time limit of 20 ms for operations',
    'undefined',
    'OperationDeadlineError: The operation exceeded the time limit of 20 ms for operations',
    'NotNeededError: the operation no longer needs the response',
    'undefined',
  ]);
});

test('the remaining time decreases from the start, also after a stop', async () => {
  const scope = createOperationScope(60_000);
  expect(scope.deadline.remainingMs()).toBe(60_000);
  scope.startTimeout();
  scope.stopTimeout();
  await until(() => scope.deadline.remainingMs() < 60_000);
  const left = scope.deadline.remainingMs();
  // It begins once.
  scope.startTimeout();
  expect(scope.deadline.remainingMs()).toBeLessThanOrEqual(left);
});

test('a scope without a timeout has no deadline', () => {
  for (const scope of [createOperationScope(), createOperationScope(Number.POSITIVE_INFINITY)]) {
    scope.startTimeout();
    expect(scope.deadline.remainingMs()).toBe(Number.POSITIVE_INFINITY);
    scope.stopTimeout();
  }
});
