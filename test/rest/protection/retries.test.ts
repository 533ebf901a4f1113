import { describe, expect, test } from 'vitest';
import {
  AbortedError,
  DeadlineError,
  InvalidResponseError,
  ReadBudgetExceededError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
} from '../../../src/rest/errors.ts';
import { createRetries, type Retries } from '../../../src/rest/protection/retries.ts';
import type { Tenant } from '../../../src/tenancy/tenant.ts';

const call = { method: 'GET' as const, path: '/v1/orders/7' };
const status = (code: number, retryAfterMs?: number) =>
  new StatusError(call, code, { fields: [] }, retryAfterMs);
const broken = (code: string) =>
  new UnavailableError('no answer', { cause: Object.assign(new Error('broken'), { code }) });
const ana: Tenant = { id: 'ana', writes: 0 };
const eva: Tenant = { id: 'eva', writes: 0 };
const ida: Tenant = { id: 'ida', writes: 0 };
const noTimeLimit = Number.POSITIVE_INFINITY;

/** The pauses with the longest that chance may give, before each of the first two retries. */
function pauses(error: unknown, remainingMs = noTimeLimit) {
  const retries = createRetries(2, () => 1);
  return [0, 1, 2].map((before) => retries.pauseMs(error, ana, before, remainingMs));
}

describe('a failed read', () => {
  test.each([502, 503, 504])(
    'is retried after the status %d, with pauses of up to 100 and 200 ms',
    (code) => {
      expect(pauses(status(code))).toEqual([100, 200, undefined]);
    },
  );

  test.each(['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'])(
    'is retried after a failed connection: %s',
    (code) => {
      expect(pauses(broken(code))).toEqual([100, 200, undefined]);
    },
  );

  test.each(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])(
    'is retried immediately after a connection reset: %s',
    (code) => {
      expect(pauses(broken(code))).toEqual([0, 200, undefined]);
    },
  );

  test('is retried only once after a call timeout', () => {
    expect(pauses(new DeadlineError('late'))).toEqual([100, undefined, undefined]);
  });

  test('waits for a Retry-After of at most two seconds before the retry', () => {
    expect(pauses(status(429, 1_000))).toEqual([1_100, 1_200, undefined]);
    expect(pauses(status(503, 2_000))).toEqual([2_100, 2_200, undefined]);
    expect(pauses(status(503, 0))).toEqual([100, 200, undefined]);
  });

  test('is not retried if Retry-After is more than two seconds', () => {
    expect([...pauses(status(429, 2_001)), ...pauses(status(503, 3_600_000))]).toEqual(
      Array(6).fill(undefined),
    );
  });

  test('is not retried after 429 without Retry-After', () => {
    expect(pauses(status(429))).toEqual([undefined, undefined, undefined]);
  });

  test.each([400, 401, 403, 404, 409, 410, 422, 500, 501])('is not retried after %d', (code) => {
    expect(pauses(status(code))).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    new AbortedError('given up'),
    new InvalidResponseError('no JSON'),
    new ResponseTooLargeError('too large'),
    new ReadBudgetExceededError(call, 250),
    new TypeError('ours'),
  ])('is not retried after $name', (error) => {
    expect(pauses(error)).toEqual([undefined, undefined, undefined]);
  });

  test('is not retried if the pause exceeds the remaining time of the operation', () => {
    expect(pauses(status(503), 150)).toEqual([100, undefined, undefined]);
  });

  test('is not retried if maxRetries is 0', () => {
    expect(createRetries(0).pauseMs(status(503), ana, 0, noTimeLimit)).toBeUndefined();
  });
});

test('the pause before a retry is random, with a limit that grows to one second', () => {
  const pausesAt = (random: number) => {
    const retries = createRetries(10, () => random);
    // For as many in a row.
    for (let read = 0; read < 1_000; read += 1) retries.recordFirstAttempt();
    return [0, 1, 2, 3, 4, 5].map((before) => retries.pauseMs(status(503), ana, before, noTimeLimit));
  };
  expect(pausesAt(1)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(pausesAt(0.5)).toEqual([50, 100, 200, 400, 500, 500]);
  expect(pausesAt(0)).toEqual([0, 0, 0, 0, 0, 0]);
});

describe('the retry budget', () => {
  /** How many of so many failures of a tenant are tried again. */
  const retried = (retries: Retries, who: Tenant, failures: number) =>
    Array.from({ length: failures }, () => retries.pauseMs(status(503), who, 0, noTimeLimit)).filter(
      (pauseMs) => pauseMs !== undefined,
    ).length;

  test('allows retries for a fifth of the reads, plus ten', () => {
    const retries = createRetries(1);
    let tries = 0;
    for (let read = 0; read < 1_000; read += 1) {
      retries.recordFirstAttempt();
      tries += 1 + retried(retries, read % 2 === 0 ? ana : eva, 1);
    }
    expect(tries).toBeGreaterThan(1_150);
    expect(tries).toBeLessThanOrEqual(1_210);
  });

  test('lets each tenant use half of the remaining retries, which are at most 64', () => {
    const retries = createRetries(1);
    for (let read = 0; read < 1_000; read += 1) retries.recordFirstAttempt();
    expect([ana, eva, ana, ida].map((who) => retried(retries, who, 100))).toEqual([32, 16, 0, 8]);
  });

  test('leaves retries to other tenants while one tenant uses all its retries', () => {
    const retries = createRetries(1);
    expect([ana, eva].map((who) => retried(retries, who, 100))).toEqual([5, 3]);
    for (let read = 0; read < 1_000; read += 1) {
      retries.recordFirstAttempt();
      retried(retries, ana, 1);
    }
    expect(retried(retries, eva, 100)).toBe(16);
  });
});
