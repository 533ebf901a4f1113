import '../src/node-runtime.ts';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { createWatch, sumOf } from './soak/answer.ts';
import { startAttackers } from './soak/attackers.ts';
import { askGood } from './soak/good-requests.ts';
import { startInspectedServer } from './soak/inspected-server.ts';
import { asFastAsCan, pace } from './soak/pace.ts';
import { type Part, report, row } from './soak/report.ts';
import { createTally } from './soak/tally.ts';
import { startUpstream } from './soak/upstream.ts';

// Whether the server stays whole under fire: the server, REST and those who ask are a process each, on sockets of this
// machine. Good requests alone, and in turns with these as many a second with one hostile request for every nine of them.
// Ends with 1 where a measure is missed.

const { values } = parseArgs({
  options: {
    /** Under fire, good and hostile together, those aside with which compilers are warmed up. */
    requests: { type: 'string', default: '20000' },
    /** Requests a second; a third of what the server can do when left out. */
    rate: { type: 'string' },
  },
});
const total = Number(values.requests);
if (!(total >= 1_000)) throw new Error(`Expected --requests of 1000 or more, but got "${values.requests}".`);
// The first half is timed, in so many turns with quiet. In the second half the heap is collected and measured after each of as
// many turns, which are not timed: a heap that has just been collected by force is slower for seconds.
const turns = 5;
const hostileShare = 0.1;
// The server, REST, those who ask and those who attack share the machine. With two processors and half of the most, these are
// busy for 1.6 of 2 under fire, and what is timed is who gets one.
const shareOfMost = 1 / 3;
const goodAtOnce = 64;
const hostileAtOnce = 256;

// So small that what is kept on purpose is full before the middle, and what then grows is not.
const environment = {
  UPSTREAM_TIMEOUT_MS: '1500',
  OPERATION_TIMEOUT_MS: '4000',
  RESPONSE_TIMEOUT_MS: '2000',
  IDEMPOTENCY_KEYS: '200',
  DOCUMENT_CACHE_BYTES: '1000000',
  PERSISTED_QUERY_BYTES: '100000',
};

const upstream = await startUpstream();
const server = await startInspectedServer({ ...environment, UPSTREAM_URL: upstream.url }, 'soak-token');
const { url } = server;
const atStart = await server.holdings();
const client = new Pool(url.origin, { connections: goodAtOnce });
const attackers = startAttackers({ url: url.origin, connections: hostileAtOnce });
const watch = createWatch();
const good = createTally();
let goodIndex = 0;
let wrong = 0;

async function askOne(times?: number[]): Promise<void> {
  goodIndex += 1;
  const { name, outcome, ms } = await askGood(client, watch, goodIndex);
  times?.push(ms);
  good.count(name, outcome);
  if (outcome !== 'right') wrong += 1;
}

/** Does it, and adds how long it took and how long processors were busy with it. */
async function measured(part: Part, task: () => Promise<unknown>): Promise<void> {
  const [startedAt, before, own] = [performance.now(), await server.taken(), process.cpuUsage()];
  await task();
  const { user, system } = process.cpuUsage(own);
  part.tookMs += performance.now() - startedAt;
  const after = await server.taken();
  part.serverMs += (after.cpuUs - before.cpuUs) / 1_000;
  part.fullCollections += after.fullCollections - before.fullCollections;
  part.askingMs += (user + system) / 1_000;
}

const part = (name: string): Part => ({
  name,
  times: [],
  tookMs: 0,
  serverMs: 0,
  askingMs: 0,
  fullCollections: 0,
});
const quiet = part('quiet');
const atFirst = part('under fire at first');
const underFire = part('under fire');

await asFastAsCan(4, goodAtOnce, () => askOne());
const most = await asFastAsCan(4, goodAtOnce, () => askOne());
const rate = values.rate === undefined ? Math.round(most * shareOfMost) : Number(values.rate);
if (!(rate > 0)) throw new Error(`Expected --rate above 0, but got "${values.rate}".`);
console.log(
  `Up to ${most.toFixed(0)} good requests are answered a second, and ${rate} a second are asked for.\n`,
);

const goodRate = rate * (1 - hostileShare);
const asked = total / 2 / turns;
const askGoodOnes = (of: number, times?: number[]) =>
  pace({ rate: goodRate, total: of * (1 - hostileShare), concurrency: goodAtOnce }, () => askOne(times));
const attack = (of: number) =>
  attackers.attack({ rate: rate * hostileShare, total: of * hostileShare, concurrency: hostileAtOnce });

// Shown apart, as compilers take seconds to be done with what hostile requests reach, as they did with good ones above.
const first = 10 * rate;
await measured(atFirst, () => Promise.all([askGoodOnes(first, atFirst.times), attack(first)]));
for (let turn = 1; turn <= turns; turn += 1) {
  await measured(quiet, () => askGoodOnes(Math.max(1_000, asked / 2), quiet.times));
  await measured(underFire, () => Promise.all([askGoodOnes(asked, underFire.times), attack(asked)]));
}

console.log('| requests under fire | heap, MB |\n| --: | --: |');
row(total / 2, (await server.holdings()).heapMb.toFixed(2));
const heap: { requests: number; heapMb: number }[] = [];
for (let done = 1; done <= turns; done += 1) {
  await Promise.all([askGoodOnes(asked), attack(asked)]);
  const { heapMb } = await server.holdings();
  const requests = total / 2 + asked * done;
  heap.push({ requests, heapMb });
  row(requests, heapMb.toFixed(2));
}

await client.close();
const hostile = await attackers.close();
// Until the server has seen that these connections are gone, and has closed those to REST that it no longer needs.
await new Promise((resolve) => setTimeout(resolve, 6_000));
const atEnd = await server.holdings();
const calls = await upstream.calls();
const errors = server.errors();
const exitCode = await server.close();
upstream.close();

const { leaks, lines } = server;
const isWhole = report({
  good: good.rows(),
  hostile: hostile.outcomes,
  wrong,
  watch: sumOf(watch, hostile.watch),
  heap,
  atStart,
  atEnd,
  timed: { atFirst, quiet, underFire },
  calls,
  errors,
  leaks: leaks(),
  lines: lines(),
  exitCode,
});
process.exitCode = isWhole ? 0 : 1;
