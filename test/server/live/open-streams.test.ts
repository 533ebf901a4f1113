import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Owner } from '../../../src/concurrency/owner.ts';
import { OpenStreams } from '../../../src/server/live/open-streams.ts';
import type { LiveStream } from '../../../src/server/live/stream.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const owner = { token: {}, connection: undefined };
const otherOwner = { token: {}, connection: undefined };

/** A stream that records what happens to it. It leaves when it is broken, as a real one does. */
function addStream(streams: OpenStreams, ofOwner: Owner = owner) {
  const startedAtMs = performance.now();
  const beats: number[] = [];
  const ends: [reason: string, afterMs: number][] = [];
  const stream = {
    beat: () => beats.push(performance.now() - startedAtMs),
    break(reason: string) {
      ends.push([reason, performance.now() - startedAtMs]);
      streams.remove(stream);
    },
    // OpenStreams calls no other member.
  } as unknown as LiveStream;
  streams.add(stream, ofOwner, 0);
  return { stream, beats, ends };
}

test('each stream gets a heartbeat at least every 15 seconds', async () => {
  const streams = new OpenStreams(1_000);
  const added = Array.from({ length: 30 }, () => addStream(streams));
  await vi.advanceTimersByTimeAsync(600_000);
  for (const { beats } of added) {
    const gaps = beats.map((beat, index) => beat - (beats[index - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(15_000);
  }
});

test('heartbeats are spread over the seconds', async () => {
  const streams = new OpenStreams(1_000);
  const added = Array.from({ length: 24 }, () => addStream(streams));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(added.filter(({ beats }) => beats.length > 0)).toHaveLength(2);
});

test('a stream ends after an hour, or up to about six minutes later', async () => {
  const streams = new OpenStreams(1_000);
  const added = Array.from({ length: 20 }, () => addStream(streams));
  await vi.advanceTimersByTimeAsync(3_600_000 - 1);
  expect(added.flatMap(({ ends }) => ends)).toEqual([]);
  await vi.advanceTimersByTimeAsync(372_001);
  expect(added.map(({ ends }) => ends.map(([reason]) => reason))).toEqual(added.map(() => ['age']));
  expect(new Set(added.map(({ ends }) => ends[0]?.[1])).size).toBeGreaterThan(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('a shutdown ends the streams one by one during the drain', async () => {
  const streams = new OpenStreams(1_000);
  const added = Array.from({ length: 100 }, () => addStream(streams));
  streams.shutDown(5_000);
  const late = addStream(streams);
  await vi.advanceTimersByTimeAsync(5_000);
  const times = [...added, late].map(({ ends }) => ends[0]?.[1] ?? -1);
  expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...times)).toBeLessThanOrEqual(5_000);
  expect(times.filter((ms) => ms < 2_500).length).toBeGreaterThan(20);
  expect(times.filter((ms) => ms >= 2_500).length).toBeGreaterThan(20);
  expect(streams.size).toBe(0);
});

test('a shutdown without a drain ends all streams at once', () => {
  const streams = new OpenStreams(1_000);
  const { ends } = addStream(streams);
  streams.shutDown(0);
  expect(ends).toEqual([['shutdown', 0]]);
  expect(addStream(streams).ends).toEqual([['shutdown', 0]]);
});

test('streams take at most half of the connections, and one token a quarter', () => {
  const streams = new OpenStreams(40);
  for (let count = 0; count < 10; count += 1) {
    expect(streams.excess(owner, 0)).toBeUndefined();
    addStream(streams);
  }
  expect(streams.excess(owner, 0)).toEqual({ limit: 10, scope: 'this token' });
  for (let count = 0; count < 10; count += 1) addStream(streams, otherOwner);
  expect(streams.excess({ token: {}, connection: undefined }, 0)).toEqual({ limit: 20, scope: 'all tokens' });
});

test('a stream takes its whole place to another owner', () => {
  const streams = new OpenStreams(40);
  const unknown = { token: {}, connection: {} };
  const { stream } = addStream(streams, unknown);
  streams.remove(stream);
  streams.add(stream, unknown, 14 * 1_024);
  expect(streams.excess({ token: {}, connection: {} }, 0)?.limit).toBe(15);
  streams.setOwner(stream, owner);
  expect(streams.excess({ token: {}, connection: {} }, 0)).toBeUndefined();
  expect(streams.excess(owner, 0)).toEqual({ limit: 10, scope: 'this token' });
  streams.remove(stream);
  streams.setOwner(stream, unknown);
  for (const anyOwner of [owner, unknown]) expect(streams.excess(anyOwner, 14 * 1_024)).toBeUndefined();
});

test('each 1,024 characters that a stream keeps count as one more stream', () => {
  const streams = new OpenStreams(40);
  const { stream } = addStream(streams);
  expect(streams.excess(owner, 8 * 1_024)).toBeUndefined();
  expect(streams.excess(owner, 9 * 1_024)).toEqual({ limit: 10, scope: 'this token' });
  streams.remove(stream);
  // The cast of `addStream`: OpenStreams calls no other member.
  const long = { ...stream } as LiveStream;
  streams.add(long, owner, 9 * 1_024);
  expect(streams.excess(owner, 0)).toEqual({ limit: 10, scope: 'this token' });
  streams.remove(long);
  expect(streams.excess(owner, 9 * 1_024)).toBeUndefined();
});
