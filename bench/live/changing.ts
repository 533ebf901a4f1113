import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../load.ts';
import { boardQuery, boardSize, type Change, now, type RestSeen, valuesOf } from './boards.ts';
import { type Report, type Size, startLiveServer } from './server.ts';
import { closeAll, type Viewer, watchAll } from './viewers.ts';

// The default of `LIVE_INTERVAL_MS`.
const tickMs = 2_000;
/** A tick may be late, so the calls of two ticks are at least this far apart. */
const windowMs = 0.75 * tickMs;
const ordersPath = '/v1/orders';

/** A state of a board: from a change to the next one. */
interface State {
  /** The values of all records, in one text. */
  key: string;
  startMs: number;
  endMs: number;
  /** When looks began that saw it. */
  looksMs: number[];
  /** Whether it lasted longer than two looks. */
  isLong: boolean;
}

/** Streams of boards that change for a time: each long state is pushed once to each stream, in order. */
export async function measureChanging(size: Size & { forMs: number }): Promise<Report> {
  const live = await startLiveServer();
  try {
    const probeToken = `board-${size.tokens}`;
    // The server learns where the shipments are.
    for (let query = 0; query < 3; query += 1) await live.ask(boardQuery, probeToken);
    await live.rest.order({});
    await live.ask(boardQuery, probeToken);
    const { calls: once } = await live.rest.order({});
    const callsPerLook = once.filter(({ token }) => token === probeToken).length;
    const viewers = await watchAll(live.port, size);
    // The looks of those who came last have ended.
    await pause(tickMs);
    const startMs = now();
    await live.rest.order({ isChanging: true });
    await pause(size.forMs);
    const seen = await live.rest.order({ isChanging: false });
    // The last long state is on its way.
    await pause(tickMs / 2);
    closeAll(viewers);
    return reportOf({ viewers, seen, callsPerLook, startMs, ...size });
  } finally {
    live.stop();
  }
}

interface Run extends Size {
  viewers: Viewer[];
  seen: RestSeen;
  callsPerLook: number;
  startMs: number;
}

function reportOf({ viewers, seen, callsPerLook, startMs, tokens }: Run): Report {
  const endMs = now() - tickMs / 2;
  const misses: string[] = [];
  const calls = seen.calls.filter(({ atMs }) => atMs >= startMs && atMs <= endMs);
  const busiest = mostWithin(calls.map(({ atMs }) => atMs));
  const expected = tokens * callsPerLook;
  if (busiest > expected) misses.push(`${busiest} calls within ${windowMs} ms, expected ${expected}`);
  const counts = { states: 0, long: 0, events: 0, torn: 0 };
  const lagsMs: number[] = [];
  for (const [token, ofToken] of Map.groupBy(viewers, (viewer) => viewer.token)) {
    const own = calls.filter((call) => call.token === token);
    const looksMs = own.filter(({ path }) => path === ordersPath).map(({ atMs }) => atMs);
    const least = leastGap(looksMs);
    if (least < windowMs) misses.push(`two looks of ${token} within ${least.toFixed(0)} ms`);
    const states = statesOf(seen.changes[token] ?? [], looksMs, { startMs, endMs });
    counts.states += states.length;
    counts.long += states.filter(({ isLong }) => isLong).length;
    const valuesByText = new Map<string, number[] | undefined>();
    for (const viewer of ofToken) {
      const found = missesOf(viewer, states, { valuesByText, lagsMs });
      counts.events += viewer.events.length - 1;
      counts.torn += found.torn;
      misses.push(...found.misses);
    }
  }
  if (counts.long === 0) misses.push('no state lasted longer than two looks');
  const sorted = lagsMs.toSorted((one, other) => one - other);
  const ticks = Math.round((endMs - startMs) / tickMs);
  return {
    head: [
      ...['streams', 'states', 'longer than two looks', 'events', 'between two states'],
      ...['calls a look', 'most calls in a tick', 'expected at most', 'calls a tick'],
      ...['seen after, p50 ms', 'p99 ms'],
    ],
    rows: [
      [
        ...[viewers.length, counts.states, counts.long, counts.events, counts.torn].map(String),
        ...[callsPerLook, busiest, expected].map(String),
        (calls.length / ticks).toFixed(1),
        ...[0.5, 0.99].map((part) => percentile(sorted, part).toFixed(0)),
      ],
    ],
    misses,
  };
}

/** The most of these times within less than a tick. */
function mostWithin(timesMs: readonly number[]): number {
  let [most, from] = [0, 0];
  for (const [index, atMs] of timesMs.entries()) {
    while (atMs - (timesMs[from] ?? atMs) > windowMs) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

function leastGap(timesMs: readonly number[]): number {
  return Math.min(...timesMs.slice(1).map((atMs, index) => atMs - (timesMs[index] ?? 0)));
}

/**
 * The states of a board. One is long if two looks began in it, or if it outlasts two looks. The time between two looks
 * doubles while nothing changes, so the longest possible one is the time since the last change that a look saw, and a tick.
 */
export function statesOf(
  changes: readonly Change[],
  looksMs: readonly number[],
  { startMs, endMs }: { startMs: number; endMs: number },
): State[] {
  const values = Array(2 * boardSize).fill(0);
  let lastSeenMs = startMs - 2 * tickMs;
  return [{ record: 0, atMs: startMs }, ...changes].map(({ record, atMs }, version) => {
    values[record] = version;
    const until = changes[version]?.atMs ?? endMs;
    const own = looksMs.filter((lookMs) => lookMs >= atMs && lookMs < until);
    const longestMs = atMs - lastSeenMs + tickMs;
    // A look is at the tick that is nearest to its time.
    const isLong = own.length >= 2 || until - atMs > 2 * longestMs + tickMs;
    lastSeenMs = own[0] ?? lastSeenMs;
    return { key: values.join(), startMs: atMs, endMs: until, looksMs: own, isLong };
  });
}

interface Shared {
  /** Streams of a token get equal texts, which are parsed once. */
  valuesByText: Map<string, number[] | undefined>;
  /** The times from a long state's start to its event. */
  lagsMs: number[];
}

/** What a stream got wrongly. `torn`: events between two states, because a look makes several calls. */
export function missesOf(
  { token, events }: Pick<Viewer, 'token' | 'events'>,
  states: readonly State[],
  { valuesByText, lagsMs }: Shared,
): { misses: string[]; torn: number } {
  const misses: string[] = [];
  const pushes = new Map<string, number[]>();
  let previous: readonly number[] = [];
  let previousKey: string | undefined;
  for (const { json, atMs } of events) {
    if (!valuesByText.has(json)) valuesByText.set(json, valuesOf(json, token));
    const values = valuesByText.get(json);
    if (values === undefined) {
      misses.push(`${token}: an event with errors: ${json.slice(0, 200)}`);
      continue;
    }
    const key = values.join();
    if (key === previousKey) misses.push(`${token}: an event twice`);
    if (values.some((value, index) => value < (previous[index] ?? 0)))
      misses.push(`${token}: an older state after a newer one`);
    pushes.set(key, [...(pushes.get(key) ?? []), atMs]);
    [previous, previousKey] = [values, key];
  }
  const known = new Set(states.map(({ key }) => key));
  for (const { key, startMs, isLong } of states) {
    const times = pushes.get(key) ?? [];
    if (times.length > 1 || (isLong && times.length !== 1))
      misses.push(`${token}: a state that was pushed ${times.length} times`);
    if (isLong && times[0] !== undefined && times[0] > startMs) lagsMs.push(times[0] - startMs);
  }
  return { misses, torn: [...pushes.keys()].filter((key) => !known.has(key)).length };
}
