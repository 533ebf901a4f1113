import { expect, test } from 'vitest';
import {
  type CallLog,
  type CallLogEntry,
  createCallLog,
  totalsOf,
} from '../../../src/rest/client/call-log.ts';
import { type FieldPaths, pathsOf } from '../../../src/rest/client/field-path.ts';

const entry = (startMs: number, durationMs: number | undefined, fields: Partial<CallLogEntry> = {}) => ({
  method: 'GET',
  route: '/v1/orders',
  status: 200,
  startMs,
  durationMs,
  bytes: 0,
  retries: 0,
  isShared: false,
  askedBy: [],
  ...fields,
});

const callLog = (...entries: CallLogEntry[]): CallLog => ({
  ...createCallLog(),
  entries,
  elapsedMs: () => 100,
});

test('the totals of a call log count own calls, and shared calls separately', () => {
  const totals = totalsOf(
    callLog(
      entry(0, 10, { bytes: 700, retries: 1 }),
      entry(0, 10, { bytes: 500, isShared: true }),
      entry(0, 10, { bytes: 20, retries: 2 }),
    ),
  );
  expect(totals).toEqual({ calls: 2, shared: 1, bytes: 720, retries: 3, restMs: 10 });
});

test.each<[string, CallLogEntry[], number]>([
  ['there is no call', [], 0],
  ['one call follows another', [entry(1, 10), entry(20, 5)], 15],
  ['one call starts when another ends', [entry(1, 10), entry(11, 5)], 15],
  ['calls overlap', [entry(1, 10), entry(6, 10)], 15],
  ['one call starts and ends during another', [entry(1, 20), entry(6, 5), entry(15, 10)], 24],
  ['a call is shared', [entry(5, 10, { isShared: true })], 10],
  ['one call is still in progress', [entry(1, 10), entry(40, undefined)], 70],
])('restMs is the time during which any call was in progress, if %s', (_what, entries, restMs) => {
  expect(totalsOf(callLog(...entries)).restMs).toBe(restMs);
});

test('paths that differ only in list indexes become one path', () => {
  const items = (field: string, count = 1_000) =>
    Array.from(Array(count), (_, index) => `orders.nodes.${index}.${field}`);
  const some: FieldPaths = new Set([...items('shipment'), 'orders.nodes.7.shipment']);
  expect(pathsOf(some)).toEqual(['orders.nodes.*.shipment']);
  expect(pathsOf(new Set<FieldPaths>([some, 'shipment', ...items('a1.0.shipment', 2)]))).toEqual([
    'orders.nodes.*.shipment',
    'shipment',
    'orders.nodes.*.a1.*.shipment',
  ]);
  expect(pathsOf(new Set(['a.7.b', 'a.7.c', 'a.7.b', 'a.8.d']))).toEqual(['a.7.b', 'a.7.c', 'a.8.d']);
});
