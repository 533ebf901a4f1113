import { describe, expect, test } from 'vitest';
import {
  AbortedError,
  BudgetExceededError,
  DeadlineError,
  InvalidResponseError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
} from '../../src/rest/errors.ts';
import { createRetries } from '../../src/rest/retries.ts';
import { createRetryBudget } from '../../src/rest/retry-budget.ts';
import type { Tenant } from '../../src/rest/tenant.ts';

const call = { method: 'GET' as const, path: '/v1/orders/7' };
const status = (code: number, retryAfterMs?: number) =>
  new StatusError(call, code, { fields: [] }, retryAfterMs);
const broken = (code: string) =>
  new UnavailableError('no answer', { cause: Object.assign(new Error('broken'), { code }) });
const ana: Tenant = { id: 'ana', writes: 0 };
const eva: Tenant = { id: 'eva', writes: 0 };
const noTimeLimit = Number.POSITIVE_INFINITY;

/** The pauses with the longest that chance may give, before each of the first two retries. */
function pauses(error: unknown, remainingMs = noTimeLimit) {
  const retries = createRetries({ maxRetries: 2, random: () => 1 });
  return [0, 1, 2].map((before) => retries.pauseMs(error, ana, before, remainingMs));
}

describe('a read is tried again', () => {
  test.each([502, 503, 504])('after %d, after up to 100 and then 200 ms', (code) => {
    expect(pauses(status(code))).toEqual([100, 200, undefined]);
  });

  test.each(['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'])('without a connection: %s', (code) => {
    expect(pauses(broken(code))).toEqual([100, 200, undefined]);
  });

  test.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])(
    'at once after a reset, and then like others: %s',
    (code) => {
      expect(pauses(broken(code))).toEqual([0, 200, undefined]);
    },
  );

  test('once after its deadline', () => {
    expect(pauses(new DeadlineError('late'))).toEqual([100, undefined, undefined]);
  });

  test('after as long as REST says, where that is short, and never before', () => {
    expect(pauses(status(429, 1_000))).toEqual([1_100, 1_200, undefined]);
    expect(pauses(status(503, 2_000))).toEqual([2_100, 2_200, undefined]);
    expect(pauses(status(503, 0))).toEqual([100, 200, undefined]);
  });
});

describe('a read is not tried again', () => {
  test('where REST says to wait for long, which is told to the client', () => {
    expect([...pauses(status(429, 2_001)), ...pauses(status(503, 3_600_000))]).toEqual(
      Array(6).fill(undefined),
    );
  });

  test('after 429 without a word of how long', () => {
    expect(pauses(status(429))).toEqual([undefined, undefined, undefined]);
  });

  test.each([400, 401, 403, 404, 409, 410, 422, 500, 501])('after %d', (code) => {
    expect(pauses(status(code))).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    new AbortedError('given up'),
    new InvalidResponseError('no JSON'),
    new ResponseTooLargeError('too large'),
    new BudgetExceededError(call, 250),
    new TypeError('ours'),
  ])('after $name', (error) => {
    expect(pauses(error)).toEqual([undefined, undefined, undefined]);
  });

  test('where the operation would be out of time by then', () => {
    expect(pauses(status(503), 150)).toEqual([100, undefined, undefined]);
  });

  test('where the setting says 0', () => {
    expect(createRetries({ maxRetries: 0 }).pauseMs(status(503), ana, 0, noTimeLimit)).toBeUndefined();
  });
});

test('pauses are anything from nothing to their bound, which ends at a second', () => {
  const pausesAt = (random: number) => {
    const retries = createRetries({
      maxRetries: 10,
      budget: createRetryBudget({ reserve: 20 }),
      random: () => random,
    });
    return [0, 1, 2, 3, 4, 5].map((before) => retries.pauseMs(status(503), ana, before, noTimeLimit));
  };
  expect(pausesAt(1)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(pausesAt(0.5)).toEqual([50, 100, 200, 400, 500, 500]);
  expect(pausesAt(0)).toEqual([0, 0, 0, 0, 0, 0]);
});

test('over all, a tenth of the reads may be tried again, and ten more', () => {
  const retries = createRetries({ maxRetries: 2, budget: createRetryBudget() });
  let tries = 0;
  for (let read = 0; read < 1_000; read += 1) {
    retries.begin();
    tries += 1;
    for (let before = 0; retries.pauseMs(status(503), ana, before, noTimeLimit) !== undefined; before += 1)
      tries += 1;
  }
  expect(tries).toBeGreaterThan(1_100);
  expect(tries).toBeLessThanOrEqual(1_110);
});

test('good times earn no more than the reserve', () => {
  const budget = createRetryBudget({ share: 0.1, reserve: 3 });
  for (let read = 0; read < 1_000; read += 1) budget.earn();
  expect([ana, ana, eva, eva].map((who) => budget.take(who))).toEqual([true, true, true, false]);
});

test('one tenant has half of the reserve, and again what is earned for what it took', () => {
  const budget = createRetryBudget({ share: 0.5, reserve: 10 });
  const taken = (who: Tenant, times: number) => Array.from({ length: times }, () => budget.take(who));
  expect(taken(ana, 100).filter(Boolean)).toHaveLength(5);
  expect(taken(eva, 3)).toEqual([true, true, true]);
  for (let read = 0; read < 4; read += 1) budget.earn();
  expect(taken(ana, 100).filter(Boolean)).toHaveLength(2);
  expect(taken(eva, 3)).toEqual([true, true, false]);
});

test('a connection that was kept and breaks is paid for apart, so that the failures of others do not keep its call from being made again', () => {
  const retries = createRetries({ maxRetries: 2, random: () => 1 });
  const made = (error: unknown, who: Tenant, before: number) =>
    Array.from({ length: 100 }, () => retries.pauseMs(error, who, before, noTimeLimit)).filter(
      (pause) => pause !== undefined,
    ).length;
  const failOften = () => expect([made(status(503), ana, 0), made(status(503), eva, 0)]).toEqual([5, 5]);
  failOften();
  expect(made(broken('UND_ERR_SOCKET'), ana, 0)).toBe(0);
  for (let read = 0; read < 1_000; read += 1) retries.begin();
  failOften();
  // Half of 64 each.
  expect([made(broken('UND_ERR_SOCKET'), ana, 0), made(broken('UND_ERR_SOCKET'), eva, 0)]).toEqual([32, 32]);
});
