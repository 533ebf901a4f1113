/**
 * `npm run bench:soak`: checks that good requests stay right and fast during an attack. Turns of good requests alone
 * alternate with turns of an attack at the same rate, in which every tenth request is hostile. The server and REST are
 * processes of their own, and attackers are a thread of their own. Ends with exit code 1 if a measure is missed.
 */

import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { load, percentile } from './load.ts';
import { markdownTable } from './markdown-table.ts';
import { waybill } from './peers/servers.ts';
import { endWithChildren, startServer } from './server-process.ts';
import type { Attacks } from './soak/attackers.ts';
import { goodRequest } from './soak/good-requests.ts';
import { noOutcomes, type Outcomes, rowsOf, timesOf } from './soak/outcomes.ts';
import type { Holdings } from './soak/probe.ts';
import { tokenStart } from './tenants.ts';
import { startUpstream } from './upstream.ts';

const { values: options } = parseArgs({
  options: {
    /** The requests during the attack, good and hostile together, without the requests of the warm-up. */
    requests: { type: 'string', default: '20000' },
    /** Requests per second; by default a third of the measured maximum. */
    rate: { type: 'string' },
    'warm-up-ms': { type: 'string', default: '8000' },
    /** How long good requests alone are sent before the attack, after the warm-up. */
    'quiet-minutes': { type: 'string', default: '0' },
  },
});
const total = Number(options.requests);
if (!(total >= 100)) throw new Error(`Expected --requests of 100 or more, but got "${options.requests}".`);
const warmUpMs = Number(options['warm-up-ms']);
// The first half of the attack alternates with quiet turns, and is timed. In the second half, the heap is collected
// and measured after each turn. These turns are not timed, because a forced collection slows the heap for seconds.
const turns = Math.min(5, Math.ceil(total / 2_000));
const perTurn = Math.round(total / 2 / turns);
const hostileShare = 0.1;
// At the maximum rate, the attack would slow the server only because the processor is fully used.
const shareOfMost = 1 / 3;
const mostConnections = 64;
// A quarter of a MB in 10,000 requests is 26 bytes for each request. That is less than the smallest leak of a
// request.
const mostGrowthMb = 0.25;
const mostRatio = 2;

const settings = {
  UPSTREAM_TIMEOUT_MS: '1500',
  OPERATION_TIMEOUT_MS: '4000',
  DRAIN_WAIT_MS: '0',
  STATE_FILE: 'memory',
};

const print = (text: string) => process.stdout.write(`${text}\n`);

endWithChildren();
// No process has a core for itself. Otherwise the load, REST and the attackers would wait for their shared core, and
// the server would seem slow.
const upstream = await startUpstream('upstream-process.ts');
const probe = ['--expose-gc', `--import=${join(import.meta.dirname, 'soak/probe.ts')}`];
const watched = {
  ...waybill,
  args: [...probe, ...waybill.args.slice(0, -1), join(import.meta.dirname, 'soak/server.ts')],
  env: settings,
};
const server = await startServer(watched, upstream.url, {
  stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  isPinned: false,
});
const { port } = server;
const errors: string[] = [];
let lines = 0;
let linesWithToken = 0;
const warnings: string[] = [];

// Both streams are pipes because of the options above.
const { stdout, stderr } = server.process as ChildProcessByStdio<null, Readable, Readable>;
createInterface({ input: stderr }).on('line', (line) => errors.push(line));
createInterface({ input: stdout }).on('line', (line) => {
  lines += 1;
  if (line.includes(tokenStart)) linesWithToken += 1;
  if (/"level":"(warn|error|fatal)"/.test(line)) warnings.push(line);
});

async function holdings(): Promise<Holdings> {
  server.process.send('tell');
  return (await once(server.process, 'message'))[0];
}

const good = noOutcomes();
let hostile = noOutcomes();
let asked = 0;
const next = () => goodRequest(asked++, good);
const attackers = new Worker(join(import.meta.dirname, 'soak/attackers.ts'), { workerData: { port } });

const atStart = await holdings();
await load({ port, next, connections: mostConnections, forMs: warmUpMs / 2 });
let rate = Number(options.rate);
if (options.rate === undefined) {
  const { requests, ms } = await load({ port, next, connections: mostConnections, forMs: warmUpMs / 2 });
  const most = requests / (ms / 1_000);
  rate = Math.round(most * shareOfMost);
  print(
    `The server answers up to ${most.toFixed(0)} good requests per second. The rate is ${rate} per second.\n`,
  );
}
if (!(rate > 0)) throw new Error(`Expected --rate above 0, but got "${options.rate}".`);

const goodRate = rate * (1 - hostileShare);
// Each connection is used twice a second, because the server closes idle connections.
const connections = Math.min(mostConnections, Math.ceil(goodRate / 2));

/** Sends good requests. Resolves to their times in milliseconds. */
async function askGood(requests: number): Promise<Float64Array> {
  const share = Math.round(requests * (1 - hostileShare));
  return (await load({ port, next, connections, total: share, ratePerSecond: goodRate })).latenciesMs;
}

async function underAttack(requests: number): Promise<Float64Array> {
  const attacks = { total: Math.round(requests * hostileShare), ratePerSecond: rate * hostileShare };
  attackers.postMessage(attacks satisfies Attacks);
  // This throws if the thread has an error.
  const ended = once(attackers, 'message');
  const [times, [outcomes]] = await Promise.all([askGood(requests), ended]);
  hostile = outcomes as Outcomes;
  return times;
}

const quietRequests = Number(options['quiet-minutes']) * 60 * rate;
if (quietRequests > 0) await askGood(quietRequests);
const quietWarnings = warnings.slice();

// V8 needs seconds to compile the code that hostile requests reach.
await underAttack((warmUpMs / 1_000) * rate);
const times = { quiet: [] as number[], 'under attack': [] as number[] };
for (let turn = 0; turn < turns; turn += 1) {
  times.quiet.push(...(await askGood(perTurn)));
  times['under attack'].push(...(await underAttack(perTurn)));
}
const heap = [{ requests: turns * perTurn, mb: (await holdings()).heapMb }];
for (let turn = 1; turn <= turns; turn += 1) {
  await underAttack(perTurn);
  heap.push({ requests: (turns + turn) * perTurn, mb: (await holdings()).heapMb });
}

await attackers.terminate();
let atEnd = await holdings();
// The server needs time to see closed connections, and to close its own connections to REST.
for (let waited = 0; waited < 10 && atEnd.sockets > 0; waited += 1) {
  await pause(1_000);
  atEnd = await holdings();
}
const { count: calls } = await upstream.turnTo({ delayMs: 0, keepsCalls: false });
server.process.kill('SIGTERM');
const [exitCode] = await once(server.process, 'close');
upstream.close();

/** The growth of the heap with 10,000 requests, by least squares. */
function growthMb(): number {
  const mean = (of: (point: (typeof heap)[number]) => number) =>
    heap.reduce((sum, point) => sum + of(point), 0) / heap.length;
  const [requests, mb] = [mean((point) => point.requests), mean((point) => point.mb)];
  const together = mean((point) => (point.requests - requests) * (point.mb - mb));
  return (together / mean((point) => (point.requests - requests) ** 2)) * 10_000;
}

const timeRows = Object.entries(times).map(([name, of]): [string, number, number] => {
  const sorted = of.toSorted((a, b) => a - b);
  return [name, percentile(sorted, 0.5), percentile(sorted, 0.99)];
});
const [[, , quietMs] = [], [, , fireMs] = []] = timeRows;

const measures: [name: string, seen: number, most: number][] = [
  ['answers with HTTP 500 or INTERNAL_SERVER_ERROR', good.internalErrors + hostile.internalErrors, 0],
  ['answers with a record of another tenant', good.crossings + hostile.crossings, 0],
  ['good requests whose answer was not right', timesOf(good, 'wrong'), 0],
  ['growth of the heap in the second half, MB in 10,000 requests', growthMb(), mostGrowthMb],
  [
    'p99 under attack, divided by the quiet p99, in the first half',
    Number(fireMs) / Number(quietMs),
    mostRatio,
  ],
  ['attacks that did not reach the server', timesOf(hostile, 'not reached'), 0],
  ['sockets that are still open', atEnd.sockets, 0],
  ['listeners more than at the start', Math.max(0, atEnd.listeners - atStart.listeners), 0],
  ['lines of the log with a token', linesWithToken, 0],
  ['warnings in the log before the attack', quietWarnings.length, 0],
  ['warnings and errors of the process', errors.length, 0],
  ['exit code on SIGTERM', exitCode ?? Number.NaN, 0],
];

for (const table of [
  markdownTable(['good requests', 'times', 'outcomes'], rowsOf(good)),
  markdownTable(['hostile requests', 'times', 'outcomes'], rowsOf(hostile)),
  markdownTable(
    ['requests under attack', 'heap, MB'],
    heap.map(({ requests, mb }) => [requests, mb.toFixed(2)]),
  ),
  markdownTable(
    ['good requests', 'p50, ms', 'p99, ms'],
    timeRows.map(([name, p50, p99]) => [name, p50.toFixed(2), p99.toFixed(2)]),
  ),
  markdownTable(
    ['measure', 'seen', 'at most', ''],
    measures.map(([name, seen, most]) => [
      name,
      Number(seen.toFixed(3)),
      most,
      seen <= most ? 'held' : '**missed**',
    ]),
  ),
  `${timesOf(good, '')} good requests, ${timesOf(hostile, '')} hostile requests, ${lines} log lines, ${calls} REST calls.`,
  ...good.examples,
  ...hostile.examples,
  ...errors.slice(0, 5),
  ...quietWarnings.slice(0, 5),
])
  print(`${table}\n`);
process.exitCode = measures.every(([, seen, most]) => seen <= most) ? 0 : 1;
