import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../load.ts';
import { now } from './boards.ts';
import { type LiveServer, type Report, type Size, smallQuery, startLiveServer } from './server.ts';
import { closeAll, type Viewer, watchAll } from './viewers.ts';

/** The longest time between two looks, and the time of the looks. */
const patienceMs = 40_000;
/** A circuit breaker is open for 5 seconds. */
const mostQueryMs = 6_000;

/** REST is away for a time: each stream gets one event with the error, and the data again afterwards. */
export async function measureOutage(size: Size & { forMs: number }): Promise<Report> {
  const live = await startLiveServer();
  try {
    const viewers = await watchAll(live.port, size);
    // Between two looks, so that no look sees one half of REST.
    await pause(2_500);
    await live.rest.order({ isAway: true });
    const before = viewers.map(({ events }) => events.length);
    await pause(size.forMs);
    const during = viewers.map(({ events }, index) => events.slice(before[index]));
    await live.rest.order({ isAway: false });
    const backAtMs = now();
    const queryMs = await untilAnswered(live);
    while (!viewers.every(hasData) && now() - backAtMs < patienceMs) await pause(100);
    const waits = viewers
      .map((viewer) => (viewer.events.at(-1)?.atMs ?? Number.NaN) - backAtMs)
      .toSorted((one, other) => one - other);
    const count = (isSo: (viewer: Viewer, index: number) => boolean) => viewers.filter(isSo).length;
    const counts = {
      'went on': count((viewer) => viewer.isOpen()),
      'one event with the error': count((_viewer, index) => {
        const events = during[index] ?? [];
        return events.length === 1 && events.every(({ json }) => json.includes('"errors"'));
      }),
      'one event with the data': count(
        ({ events }, index) => hasData({ events }) && events.length === (before[index] ?? 0) + 2,
      ),
      'the same data as before': count(({ events }) => events.at(-1)?.json === events.at(0)?.json),
    };
    closeAll(viewers);
    const misses = Object.entries(counts).flatMap(([name, found]) =>
      found === viewers.length ? [] : [`${name}: ${found} of ${viewers.length} streams`],
    );
    if (queryMs > mostQueryMs) misses.push(`a small query works after ${queryMs.toFixed(0)} ms`);
    const row = [viewers.length, ...Object.values(counts), queryMs.toFixed(0)];
    const times = [0.5, 1].map((part) => (percentile(waits, part) / 1_000).toFixed(1));
    return {
      head: [
        ...['streams', ...Object.keys(counts)],
        ...['small query again after, ms', 'data again after, p50 s', 'longest, s'],
      ],
      rows: [[...row, ...times].map(String)],
      misses,
    };
  } finally {
    live.stop();
  }
}

function hasData({ events }: Pick<Viewer, 'events'>): boolean {
  return events.at(-1)?.json.includes('"errors"') === false;
}

/** The time until a small query has an answer without errors, in milliseconds. */
async function untilAnswered(live: LiveServer): Promise<number> {
  const startMs = now();
  while ((await live.ask(smallQuery, 'token-of-queries')).includes('"errors"')) {
    if (now() - startMs > patienceMs) break;
    await pause(20);
  }
  return now() - startMs;
}
