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

test('the sums of a ledger are those of its own calls, and tell how many were of others', () => {
  const sums = totalsOf(
    callLog(
      entry(0, 10, { bytes: 700, retries: 1 }),
      entry(0, 10, { bytes: 500, isShared: true }),
      entry(0, 10, { bytes: 20, retries: 2 }),
    ),
  );
  expect(sums).toEqual({ calls: 2, shared: 1, bytes: 720, retries: 3, restMs: 10 });
});

test.each<[string, CallLogEntry[], number]>([
  ['there is none', [], 0],
  ['one follows the other', [entry(1, 10), entry(20, 5)], 15],
  ['one begins as the other ends', [entry(1, 10), entry(11, 5)], 15],
  ['they overlap', [entry(1, 10), entry(6, 10)], 15],
  ['one lies within another', [entry(1, 20), entry(6, 5), entry(15, 10)], 24],
  ['it is the call of another operation', [entry(5, 10, { isShared: true })], 10],
  ['one is under way still', [entry(1, 10), entry(40, undefined)], 70],
])('the time of calls is that in which any was under way, where %s', (_what, entries, restMs) => {
  expect(totalsOf(callLog(...entries)).restMs).toBe(restMs);
});

test('items of a list that ask for the same by the same field are one path', () => {
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
