import type { Watch } from './answer.ts';
import type { Holdings } from './inspected-server.ts';
import { type Outcomes, percentile, slopeOf, totalOf } from './tally.ts';

/** A part of the run, and what good requests got in it; all times in milliseconds. */
export interface Part {
  name: string;
  /** Of each good request. */
  times: number[];
  tookMs: number;
  /** For how long the server kept a processor busy, and those who ask. */
  serverMs: number;
  askingMs: number;
  /** How often the server collected its whole heap. */
  fullCollections: number;
}

/** What was seen. */
export interface Seen {
  good: Outcomes[];
  hostile: Outcomes[];
  /** Good requests whose answer was not right. */
  wrong: number;
  watch: Watch;
  /** After so many requests under fire, in the second half. */
  heap: { requests: number; heapMb: number }[];
  atStart: Holdings;
  atEnd: Holdings;
  timed: { atFirst: Part; quiet: Part; underFire: Part };
  calls: Record<string, number>;
  errors: string[];
  leaks: number;
  lines: number;
  exitCode: number | null;
}

// A quarter of a MB in 10,000 requests is 26 bytes a request: less than the smallest thing that could be kept of one.
const mostGrowthMb = 0.25;
const mostRatio = 2;

/** Prints a row of a table. */
export const row = (...cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);

function head(...cells: string[]): void {
  process.stdout.write('\n');
  row(...cells);
  row('---', ...cells.slice(1).map(() => '--:'));
}

/** Prints it all as tables. Answers whether every measure was held. */
export function report(seen: Seen): boolean {
  for (const [name, rows] of [
    ['good requests', seen.good],
    ['hostile requests', seen.hostile],
  ] as const) {
    head(name, 'times', 'outcomes');
    for (const cells of rows) row(...cells);
  }

  head('the process holds', 'at the start', 'after');
  const { atStart, atEnd } = seen;
  for (const kind of new Set([...Object.keys(atStart.resources), ...Object.keys(atEnd.resources)])) {
    row(kind, atStart.resources[kind] ?? 0, atEnd.resources[kind] ?? 0);
  }
  row('listeners of the process', atStart.listeners, atEnd.listeners);

  head('good requests', 'p50, ms', 'p99, ms', 'processors busy: server', 'those who ask', 'full collections');
  for (const { name, times, tookMs, serverMs, askingMs, fullCollections } of Object.values(seen.timed)) {
    const shares = [serverMs, askingMs].map((ms) => (ms / tookMs).toFixed(2));
    row(
      name,
      percentile(times, 0.5).toFixed(2),
      percentile(times, 0.99).toFixed(2),
      ...shares,
      fullCollections,
    );
  }

  const measures = measuresOf(seen);
  head('measure', 'seen', 'at most', '');
  for (const [name, value, bound, holds] of measures) row(name, value, bound, holds ? 'held' : '**missed**');
  const calls = Object.entries(seen.calls).sort(([, a], [, b]) => b - a);
  process.stdout.write(
    [
      `\n${totalOf(seen.good)} good requests, ${totalOf(seen.hostile)} hostile ones, ${seen.lines} lines of log. REST calls: `,
      `${calls.map(([kind, times]) => `${times} ${kind}`).join(', ')}.\n`,
      ...[...seen.watch.examples, ...seen.errors.slice(0, 5)].map((example) => `\n${example}\n`),
    ].join(''),
  );
  return measures.every(([, , , holds]) => holds);
}

/** Whether nothing came of any attack of a kind, as if there were no server. */
function isInVain([, total, outcomes]: Outcomes): boolean {
  return total === 0 || /^\d+ (no answer: ECONNREFUSED)?$/.test(outcomes);
}

function moreHeld(before: Holdings, after: Holdings): number {
  const sockets = ({ resources }: Holdings) => resources.TCPSocketWrap ?? 0;
  return Math.max(0, sockets(after) - sockets(before)) + Math.max(0, after.listeners - before.listeners);
}

type Measure = [name: string, seen: string | number, bound: number, holds: boolean];

function measuresOf({
  watch,
  wrong,
  hostile,
  heap,
  timed,
  atStart,
  atEnd,
  leaks,
  errors,
  exitCode,
}: Seen): Measure[] {
  const none = (name: string, seen: number): Measure => [name, seen, 0, seen === 0];
  const growth = slopeOf(heap.map(({ requests, heapMb }) => ({ x: requests / 10_000, y: heapMb })));
  const ratio = percentile(timed.underFire.times, 0.99) / percentile(timed.quiet.times, 0.99);
  return [
    none('answers with HTTP 500 or INTERNAL_SERVER_ERROR', watch.internalErrors),
    none('answers with a record of another tenant', watch.crossings),
    none('good requests whose answer was not right', wrong),
    [
      'growth of the heap in the second half, MB in 10,000 requests',
      growth.toFixed(3),
      mostGrowthMb,
      growth <= mostGrowthMb,
    ],
    [
      'p99 under fire, times the quiet one, in the first half',
      ratio.toFixed(2),
      mostRatio,
      ratio <= mostRatio,
    ],
    none('kinds of attacks that did not reach the server', hostile.filter(isInVain).length),
    none('sockets and listeners more than at the start', moreHeld(atStart, atEnd)),
    none('lines of the log with a token', leaks),
    none('warnings and errors of the process', errors.length),
    ['exit code on SIGTERM', exitCode ?? 'none', 0, exitCode === 0],
  ];
}
