import { describe, expect, test } from 'vitest';
import { mayHaveHappened, StatusError } from '../../src/rest/errors.ts';
import { gatewayFailure } from '../../src/rest/gateway-statuses.ts';
import { toOutcome } from '../../src/rest/protection/call-failure.ts';
import { createRetries } from '../../src/rest/protection/retries.ts';
import { toClientError } from '../../src/server/operations/client-error.ts';

const timeouts = [408, 460, 499, 504, 522, 524, 598, 599];
const unavailable = [502, 503, 520, 521, 523, 525, 526, 527, 528, 529, 530];
const ofGateways = [...timeouts, ...unavailable];

const details = { message: 'said by 10.0.0.1', fields: [] };
const read = (status: number) => new StatusError({ method: 'GET', path: '/v1/orders/7' }, status, details);
const write = (status: number) => new StatusError({ method: 'POST', path: '/v1/orders' }, status, details);
const retried = (status: number) =>
  createRetries(2, () => 1).pauseMs(read(status), { id: 'ana', writes: 0 }, 0, 1_000);

describe.each(ofGateways)('the status %i of a gateway', (status) => {
  test('does not prove that a write was not done', () => {
    expect(mayHaveHappened(write(status))).toBe(true);
  });

  test('allows a retry of a read', () => {
    expect(retried(status)).toBe(100);
  });

  test('counts as a failure for the circuit breaker', () => {
    expect([toOutcome(read(status), 0), toOutcome(write(status), 0)]).toEqual(['failed', 'failed']);
  });

  test('makes a read fail with a retryable error that hides the text of the gateway', () => {
    const code = timeouts.includes(status) ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNAVAILABLE';
    const message = `GET /v1/orders/7 returned ${status}`;
    expect(toClientError(read(status))).toEqual({ message, code, retryable: true, upstreamStatus: status });
  });

  test('makes a write fail with an error that is not retryable', () => {
    const code = timeouts.includes(status) ? 'UPSTREAM_ERROR' : 'UPSTREAM_UNAVAILABLE';
    const message = `POST /v1/orders returned ${status}`;
    expect(toClientError(write(status))).toEqual({ message, code, retryable: false, upstreamStatus: status });
  });
});

describe.each([400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 421, 422, 423, 424, 425, 429, 431])(
  'the status %i is a refusal of REST',
  (status) => {
    test('that proves that a write was not done', () => {
      expect(mayHaveHappened(write(status))).toBe(false);
    });

    test('that allows no retry, and does not count as a failure', () => {
      expect([retried(status), toOutcome(read(status), 0)]).toEqual([undefined, 'answered']);
    });
  },
);

test.each([500, 501, 505, 507, 508, 511, 519])('the status %i is an answer of REST itself', (status) => {
  expect(gatewayFailure(status)).toBeUndefined();
  expect(mayHaveHappened(write(status))).toBe(true);
  expect(retried(status)).toBeUndefined();
});
