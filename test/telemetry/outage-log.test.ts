import { beforeEach, expect, test, vi } from 'vitest';
import { type AttemptOutcome, CallLog } from '../../src/rest/client/call-log.ts';
import { createOutageLog } from '../../src/telemetry/outage-log.ts';
import { recordedLog } from '../fixtures/recorded-log.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

function createOutages() {
  const { log, lines } = recordedLog();
  const outages = createOutageLog(log);
  return {
    outages,
    wait: (ms: number) => vi.advanceTimersByTime(ms),
    record(count: number, changes: Partial<AttemptOutcome> = {}) {
      const attempt: AttemptOutcome = {
        tenantId: 'ana',
        route: 'GET /v1/orders',
        isRead: true,
        outcome: 'answered',
        status: 200,
        reason: undefined,
        durationMs: 20,
        isCircuitOpen: false,
        ...changes,
      };
      for (let index = 0; index < count; index += 1) outages.onAttempt(attempt);
    },
    messages: () => lines().map(({ msg }) => msg),
    lines,
  };
}

const sentCall = () => new CallLog().record({ method: 'GET', path: '/v1/orders' });

const failed = { outcome: 'failed', status: undefined, reason: 'ECONNREFUSED' } as const;
const limited = { status: 429 };
const slow = { durationMs: 2_100 };

test('an outage is logged once when it starts and once when it ends', () => {
  const { record, wait, lines } = createOutages();
  record(3);
  record(40, failed);
  wait(5_000);
  record(10, { ...failed, tenantId: 'eva' });
  wait(9_999);
  expect(lines()).toHaveLength(1);
  wait(1);
  expect(lines()).toEqual([
    {
      level: 'warn',
      outage: 'no answer',
      since: lines()[1]?.since,
      route: 'GET /v1/orders',
      reason: 'ECONNREFUSED',
      failures: 5,
      msg: 'the REST service does not respond',
    },
    {
      level: 'warn',
      outage: 'no answer',
      since: expect.stringMatching(/^\d{4}-/),
      seconds: 5,
      failures: 50,
      msg: 'the REST service responds again',
    },
  ]);
});

test.each<[string, Partial<AttemptOutcome>, number, string]>([
  ['missing responses', failed, 5, 'the REST service does not respond'],
  ['server errors', { outcome: 'failed', status: 503 }, 5, 'the REST service does not respond'],
  ['rejections by a rate limit', limited, 5, 'the REST service rejects calls because of its rate limit'],
  ['slow reads', slow, 20, 'the REST service is slow'],
])('%s are logged as an outage', (_what, attempt, count, message) => {
  const { record, messages } = createOutages();
  record(count - 1, attempt);
  expect(messages()).toEqual([]);
  record(1, attempt);
  expect(messages()).toEqual([message]);
});

test('failures are not an outage if more calls succeed than fail', () => {
  const { record, messages } = createOutages();
  record(100);
  record(90, failed);
  expect(messages()).toEqual([]);
});

test.each([failed, limited])('failures of a single token are not an outage: %j', (attempt) => {
  const { record, messages } = createOutages();
  record(1, { tenantId: 'eva' });
  record(50, attempt);
  expect(messages()).toEqual([]);
  record(1, { ...attempt, tenantId: 'ida' });
  expect(messages()).toHaveLength(1);
});

test('aborted calls and slow writes are not an outage', () => {
  const { record, messages } = createOutages();
  record(50, { outcome: 'aborted', status: undefined });
  record(50, { ...slow, isRead: false });
  expect(messages()).toEqual([]);
});

test('failures from 10 seconds ago do not count', () => {
  const { record, wait, messages } = createOutages();
  record(4, failed);
  wait(10_000);
  record(4, failed);
  expect(messages()).toEqual([]);
});

test('five calls in a row without a response are an outage, however long each takes', () => {
  const { record, wait, lines } = createOutages();
  const since = new Date(Date.now() + 10_000).toISOString();
  for (let call = 0; call < 5; call += 1) {
    expect(lines()).toEqual([]);
    wait(10_000);
    record(1, { ...failed, durationMs: 10_000 });
  }
  expect(lines()).toMatchObject([{ since, failures: 5, msg: 'the REST service does not respond' }]);
});

test.each<[string, Partial<AttemptOutcome>, number]>([
  ['a call succeeded', {}, 0],
  ['REST responded with an error', { status: 404 }, 0],
  ['no call was made for more than 5 seconds', { outcome: 'aborted' }, 5_100],
])('calls without a response are not in a row if %s between them', (_what, between, waitMs) => {
  const { record, wait, lines } = createOutages();
  for (let call = 0; call < 8; call += 1) {
    if (call % 4 === 0) {
      record(1, between);
      wait(waitMs);
    }
    wait(10_000);
    record(1, { ...failed, durationMs: 10_000 });
  }
  expect(lines()).toEqual([]);
});

test('an open circuit breaker is an outage even if other routes respond', () => {
  const { record, wait, lines } = createOutages();
  record(100);
  record(1, { ...failed, route: 'GET /v1/locations', isCircuitOpen: true });
  expect(lines()).toMatchObject([
    { route: 'GET /v1/locations', circuitOpen: true, failures: 1, msg: 'the REST service does not respond' },
  ]);
  wait(5_000);
  // A probe of the breaker.
  record(1, { ...failed, isCircuitOpen: true });
  record(100);
  wait(9_999);
  expect(lines()).toHaveLength(1);
  wait(1);
  expect(lines()[1]).toMatchObject({ seconds: 5, failures: 2, msg: 'the REST service responds again' });
});

test('both log lines of an outage contain the time of the first failure', () => {
  const { record, wait, lines } = createOutages();
  const since = new Date().toISOString();
  record(4, failed);
  wait(4_000);
  record(1, failed);
  wait(10_000);
  expect(lines()).toMatchObject([
    { since, msg: 'the REST service does not respond' },
    { since, seconds: 4, msg: 'the REST service responds again' },
  ]);
});

test('single failures among many successes do not prolong an outage', () => {
  const { record, wait, messages } = createOutages();
  record(10, failed);
  for (let second = 0; second < 12; second += 1) {
    wait(1_000);
    record(20);
    if (second % 3 === 2) record(1, failed);
  }
  expect(messages()).toEqual(['the REST service does not respond', 'the REST service responds again']);
});

test.each([100, 4_000, 10_000, 60_000])(
  'calls that each fail after %i ms behind a circuit breaker are one outage',
  (durationMs) => {
    const { outages, record, wait, messages } = createOutages();
    const late = { ...failed, durationMs, isCircuitOpen: true };
    record(5, late);
    for (let probe = 0; probe < 10; probe += 1) {
      wait(5_000);
      const call = sentCall();
      outages.onCallSent(call);
      wait(durationMs);
      record(1, late);
      outages.onCallFinished(call);
      // Other routes respond.
      record(20);
    }
    expect(messages()).toEqual(['the REST service does not respond']);
    wait(10_000);
    expect(messages()).toEqual(['the REST service does not respond', 'the REST service responds again']);
  },
);

test.each([2_000, 30_000])(
  'an outage waits for a call of %i ms that starts 9 s after the last failure',
  (durationMs) => {
    const { outages, record, wait, messages } = createOutages();
    const call = sentCall();
    record(5, failed);
    wait(9_000);
    outages.onCallSent(call);
    wait(durationMs);
    expect(messages()).toEqual(['the REST service does not respond']);
    outages.onCallFinished(call);
    wait(500);
    expect(messages()).toEqual(['the REST service does not respond', 'the REST service responds again']);
  },
);

test('calls that are sent 10 seconds after the last failure do not prolong an outage', () => {
  const { outages, record, wait, messages } = createOutages();
  const call = sentCall();
  record(5, failed);
  wait(9_900);
  outages.onCallSent(call);
  for (let second = 0; second < 20; second += 1) {
    wait(1_000);
    outages.onCallSent(sentCall());
  }
  expect(messages()).toEqual(['the REST service does not respond']);
  outages.onCallFinished(call);
  wait(500);
  expect(messages()).toEqual(['the REST service does not respond', 'the REST service responds again']);
});

test('failures of a single token do not prolong an outage of all tokens', () => {
  const { record, wait, messages } = createOutages();
  record(10, failed);
  record(10, { ...failed, tenantId: 'eva' });
  for (let second = 0; second < 20; second += 1) {
    wait(1_000);
    record(1, { tenantId: 'eva' });
    record(5, failed);
  }
  expect(messages()).toEqual(['the REST service does not respond', 'the REST service responds again']);
});

test('the shutdown logs the end of an outage', () => {
  const { record, outages, lines } = createOutages();
  record(5, failed);
  outages.close();
  expect(lines()).toMatchObject([
    { msg: 'the REST service does not respond' },
    { msg: 'the REST service responds again', atShutdown: true },
  ]);
  record(5, failed);
  expect(lines()).toHaveLength(2);
});
