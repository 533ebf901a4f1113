import '../src/node-runtime.ts';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { createWatch } from './soak/answer.ts';
import { askGood } from './soak/good-requests.ts';
import { attacks, turns } from './soak/hostile-requests.ts';
import { type Holdings, startInspectedServer } from './soak/inspected-server.ts';
import { asFastAsCan, pace } from './soak/pace.ts';
import { createTally, percentile, slopeOf } from './soak/tally.ts';
import { startUpstream } from './soak/upstream.ts';

// Whether the server stays whole under fire: the server, REST and those who ask are a process each, on sockets of this
// machine. First good requests alone, then the same with one hostile request for every nine of them.

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    /** Requests a second; half of what the server can do when left out. */
    rate: { type: 'string' },
  },
});
const total = Number(values.requests);
const points = 10;
const goodAtOnce = 64;
const hostileAtOnce = 256;
const bounds = { slopeMb: 0.25, ratio: 2 };

// So small that what is kept on purpose is full before the second point, and what then grows is not.
const environment = {
  UPSTREAM_TIMEOUT_MS: '1500',
  OPERATION_TIMEOUT_MS: '4000',
  HEADERS_TIMEOUT_MS: '1000',
  STALL_TIMEOUT_MS: '1000',
  REQUEST_TIMEOUT_MS: '2000',
  RESPONSE_TIMEOUT_MS: '2000',
  IDEMPOTENCY_KEYS: '200',
  DOCUMENT_CACHE_BYTES: '1000000',
  PERSISTED_QUERY_BYTES: '100000',
};

const upstream = await startUpstream();
const server = await startInspectedServer({ ...environment, UPSTREAM_URL: upstream.url }, 'soak-token');
const { url } = server;
const client = new Pool(url.origin, { connections: goodAtOnce });
const hostileClient = new Pool(url.origin, { connections: hostileAtOnce });
const watch = createWatch();
const tally = createTally();
const hostileTally = createTally();
let goodIndex = 0;
let hostileIndex = 0;
let wrong = 0;

async function good(times?: number[]): Promise<void> {
  goodIndex += 1;
  const { name, outcome, ms } = await askGood(client, watch, goodIndex);
  times?.push(ms);
  tally.count(name, outcome);
  if (outcome !== 'right') wrong += 1;
}

async function hostile(): Promise<void> {
  hostileIndex += 1;
  const index = hostileIndex;
  const name = turns[index % turns.length] ?? '';
  hostileTally.count(name, (await attacks[name]?.({ url, client: hostileClient, watch }, index)) ?? '');
}

const seconds = (ms: number) => (ms / 1_000).toFixed(0);
const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(' | ')} |`);

await asFastAsCan(4, goodAtOnce, () => good());
const most = await asFastAsCan(4, goodAtOnce, () => good());
const rate = values.rate === undefined ? Math.round(most / 2) : Number(values.rate);
console.log(
  `It answers up to ${most.toFixed(0)} good requests a second; asked for are ${rate} a second, of which in the second part a tenth is hostile.\n`,
);

const quiet: number[] = [];
await pace({ rate: rate * 0.9, total: Math.max(2_000, total / 10), concurrency: goodAtOnce }, () =>
  good(quiet),
);
const atStart = await server.holdings();

const underFire: number[] = [];
const heap: { x: number; y: number }[] = [];
let firing = 0;
console.log('| requests under fire | heap, MB |');
console.log('| --: | --: |');
row(0, atStart.heapMb.toFixed(2));
for (let point = 1; point <= points; point += 1) {
  const asked = total / points;
  const [took] = await Promise.all([
    pace({ rate: rate * 0.9, total: asked * 0.9, concurrency: goodAtOnce }, () => good(underFire)),
    pace({ rate: rate * 0.1, total: asked * 0.1, concurrency: hostileAtOnce }, hostile),
  ]);
  firing += took;
  const { heapMb } = await server.holdings();
  heap.push({ x: (asked * point) / 10_000, y: heapMb });
  row(asked * point, heapMb.toFixed(2));
}
await client.close();
await hostileClient.close();
// Until the server has seen that these connections are gone, and has closed those of its own that it no longer needs.
await new Promise((resolve) => setTimeout(resolve, 6_000));
const atEnd = await server.holdings();
const calls = await upstream.calls();
const errors = server.errors();
const exitCode = await server.close();
upstream.close();

console.log('\n| good requests | times | outcome |');
console.log('| --- | --: | --- |');
for (const cells of tally.rows()) row(...cells);
console.log('\n| hostile requests | times | outcome |');
console.log('| --- | --: | --- |');
for (const cells of hostileTally.rows()) row(...cells);

console.log('\n| the process holds | before | after |');
console.log('| --- | --: | --: |');
const kinds = (holdings: Holdings) => Object.keys(holdings.resources);
for (const kind of new Set([...kinds(atStart), ...kinds(atEnd)])) {
  row(kind, atStart.resources[kind] ?? 0, atEnd.resources[kind] ?? 0);
}
row('listeners of the process', atStart.listeners, atEnd.listeners);

console.log('\n| good requests | p50, ms | p99, ms |');
console.log('| --- | --: | --: |');
for (const [name, times] of [
  ['quiet', quiet],
  ['under fire', underFire],
] as const) {
  row(name, percentile(times, 0.5).toFixed(2), percentile(times, 0.99).toFixed(2));
}

const slope = slopeOf(heap.slice(2));
const ratio = percentile(underFire, 0.99) / percentile(quiet, 0.99);
const measures: [string, string | number, string, boolean][] = [
  ['answers with HTTP 500 or INTERNAL_SERVER_ERROR', watch.internalErrors, '0', watch.internalErrors === 0],
  ['answers with a record of another tenant', watch.crossings, '0', watch.crossings === 0],
  ['good requests whose answer was not right', wrong, '0', wrong === 0],
  [
    'growth of the heap from the third point on, MB in 10,000 requests',
    slope.toFixed(3),
    `${bounds.slopeMb}`,
    slope <= bounds.slopeMb,
  ],
  ['p99 under fire, times the quiet one', ratio.toFixed(2), `${bounds.ratio}`, ratio <= bounds.ratio],
  ['lines of the log with a token', server.leaks(), '0', server.leaks() === 0],
  ['lines that are warnings or errors of the process', errors.length, '0', errors.length === 0],
  ['exit code of the server on SIGTERM', exitCode ?? 'none', '0', exitCode === 0],
];
console.log('\n| measure | seen | at most | |');
console.log('| --- | --: | --: | --- |');
for (const [name, seen, bound, holds] of measures) row(name, seen, bound, holds ? 'held' : '**missed**');
console.log(
  `\n${tally.total()} good and ${hostileTally.total()} hostile requests, the hostile ones within ${seconds(firing)} s; ${server.lines()} lines of log.`,
);
console.log(
  `REST calls: ${Object.entries(calls)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, times]) => `${times} ${kind}`)
    .join(', ')}.`,
);
for (const example of [...watch.examples, ...errors.slice(0, 5)]) console.log(`\n${example}`);
if (measures.some(([, , , holds]) => !holds)) process.exitCode = 1;
