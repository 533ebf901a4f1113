import { setTimeout as pause } from 'node:timers/promises';
import { load, percentile } from '../load.ts';
import { median, withRange } from '../markdown-table.ts';
import { boardSubscription } from './boards.ts';
import { type LiveServer, type Report, type Size, smallRequest, startLiveServer } from './server.ts';
import { closeAll, watchAll } from './viewers.ts';

const mostHeapKb = 60;
const mostTimes = 1.5;
/** What the streams watch, and how. */
const watched: [name: string, subscription: string][] = [
  ['a balance', 'subscription { organization { balance { cents } } }'],
  ['a board of 20 orders', boardSubscription],
];

export interface IdleSize extends Size {
  /** Rounds alone, each followed by one beside the streams. */
  rounds: number;
  /** The wait before the queries beside the streams, in milliseconds. */
  settleMs: number;
  /** The small queries alone, and as many beside the streams, in each round. */
  samples: number;
}

/** Idle streams: the heap of each, and the wait of a small query alone and beside them, in turns. */
export async function measureIdle(size: IdleSize): Promise<Report> {
  const rows: string[][] = [];
  const misses: string[] = [];
  for (const [name, subscription] of watched) {
    const live = await startLiveServer();
    try {
      await askMany(live, size.samples);
      // Streams of a warm-up: V8 compiles their code, and caches are full.
      await beside(live, size, subscription);
      const rounds: Round[] = [];
      for (let round = 0; round < size.rounds; round += 1) {
        const alone = await askMany(live, size.samples);
        rounds.push({ alone, ...(await beside(live, size, subscription)) });
      }
      const heapKb = rounds.map((round) => round.heapKb);
      const times = median(rounds.map(({ busy }) => busy.p99)) / median(rounds.map(({ alone }) => alone.p99));
      if (median(heapKb) > mostHeapKb) misses.push(`${name}: ${median(heapKb).toFixed(1)} KB of heap`);
      if (times > mostTimes) misses.push(`${name}: p99 is ${times.toFixed(2)} times as long`);
      rows.push([
        name,
        String(size.streams),
        withRange(heapKb),
        ...(['p50', 'p99'] as const).flatMap((part) => [
          withRange(rounds.map(({ alone }) => alone[part])),
          withRange(rounds.map(({ busy }) => busy[part])),
        ]),
        times.toFixed(2),
      ]);
    } finally {
      live.stop();
    }
  }
  const head = ['watched', 'streams', 'heap of each, KB', 'p50 alone, ms', 'p50 beside, ms'];
  return { head: [...head, 'p99 alone, ms', 'p99 beside, ms', 'times'], rows, misses };
}

interface Waits {
  p50: number;
  p99: number;
}

interface Round {
  heapKb: number;
  alone: Waits;
  busy: Waits;
}

async function beside(live: LiveServer, size: IdleSize, subscription: string): Promise<Omit<Round, 'alone'>> {
  const before = await live.holdings();
  const viewers = await watchAll(live.port, size, subscription);
  await pause(size.settleMs);
  const { heapMb } = await live.holdings();
  const busy = await askMany(live, size.samples);
  closeAll(viewers);
  await live.noStreams();
  return { heapKb: ((heapMb - before.heapMb) * 1_024) / size.streams, busy };
}

/** The waits of small queries, one each 4 ms: together longer than a tick. */
async function askMany({ port }: LiveServer, total: number): Promise<Waits> {
  const { latenciesMs } = await load({
    ...{ port, total, connections: 2, ratePerSecond: 250 },
    next: () => ({ text: smallRequest }),
  });
  return { p50: percentile(latenciesMs, 0.5), p99: percentile(latenciesMs, 0.99) };
}
