import { expect, test } from 'vitest';
import { CallLog, type CallLogEntry, sumCalls } from '../../../src/rest/client/call-log.ts';

const entry = (startMs: number, durationMs: number | undefined, fields: Partial<CallLogEntry> = {}) => ({
  method: 'GET',
  route: '/v1/orders',
  status: 200,
  startMs,
  durationMs,
  bytes: 0,
  retries: 0,
  isAborted: false,
  isUnsent: false,
  ...fields,
});

/** A call log of an operation that runs for 100 ms. */
class PastCallLog extends CallLog {
  override elapsedMs(): number {
    return 100;
  }
}

function callLog(...entries: CallLogEntry[]): CallLog {
  const log = new PastCallLog();
  log.entries.push(...entries);
  return log;
}

test('sumCalls adds up calls, bytes and retries', () => {
  const totals = sumCalls(
    callLog(entry(0, 10, { bytes: 700, retries: 1 }), entry(0, 10, { bytes: 20, retries: 2 })),
  );
  expect(totals).toEqual({ calls: 2, bytes: 720, retries: 3, restMs: 10 });
});

test.each<[string, CallLogEntry[], number]>([
  ['no call', [], 0],
  ['one call after another', [entry(1, 10), entry(20, 5)], 15],
  ['one call right after another', [entry(1, 10), entry(11, 5)], 15],
  ['overlapping calls', [entry(1, 10), entry(6, 10)], 15],
  ['calls during another call', [entry(1, 20), entry(6, 5), entry(15, 10)], 24],
  ['a call in progress', [entry(1, 10), entry(40, undefined)], 70],
])('restMs is the time during which at least one call runs: %s', (_what, entries, restMs) => {
  expect(sumCalls(callLog(...entries)).restMs).toBe(restMs);
});
