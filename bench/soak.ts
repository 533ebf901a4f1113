import '../src/node-runtime.ts';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { createWatch } from './soak/answer.ts';
import { askGood } from './soak/good-requests.ts';
import { attacks, turns } from './soak/hostile-requests.ts';
import { startInspectedServer } from './soak/inspected-server.ts';
import { asFastAsCan, pace } from './soak/pace.ts';
import { type Part, report, row } from './soak/report.ts';
import { createTally } from './soak/tally.ts';
import { startUpstream } from './soak/upstream.ts';

// Whether the server stays whole under fire: the server, REST and those who ask are a process each, on sockets of this
// machine. First good requests alone, then as many a second with one hostile request for every nine of them. Ends with 1
// where a measure is missed.

const { values } = parseArgs({
  options: {
    /** Under fire, good and hostile together. */
    requests: { type: 'string', default: '20000' },
    /** Requests a second; half of what the server can do when left out. */
    rate: { type: 'string' },
  },
});
const total = Number(values.requests);
const points = 10;
const hostileShare = 0.1;
const goodAtOnce = 64;
const hostileAtOnce = 256;

// So small that what is kept on purpose is full before the middle, and what then grows is not.
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
const good = createTally();
const hostile = createTally();
let goodIndex = 0;
let hostileIndex = 0;
let wrong = 0;

async function askOne(times?: number[]): Promise<void> {
  goodIndex += 1;
  const { name, outcome, ms } = await askGood(client, watch, goodIndex);
  times?.push(ms);
  good.count(name, outcome);
  if (outcome !== 'right') wrong += 1;
}

async function attackOnce(): Promise<void> {
  hostileIndex += 1;
  const index = hostileIndex;
  const name = turns[index % turns.length] ?? '';
  hostile.count(name, (await attacks[name]?.({ url, client: hostileClient, watch }, index)) ?? '');
}

/** Does it, and adds how long it took and how long processors were busy with it. */
async function measured(part: Part, task: () => Promise<unknown>): Promise<void> {
  const [startedAt, servers, own] = [performance.now(), await server.cpu(), process.cpuUsage()];
  await task();
  const { user, system } = process.cpuUsage(own);
  part.tookMs += performance.now() - startedAt;
  part.serverMs += ((await server.cpu()) - servers) / 1_000;
  part.askingMs += (user + system) / 1_000;
}

const part = (name: string): Part => ({ name, times: [], tookMs: 0, serverMs: 0, askingMs: 0 });
const quiet = part('quiet');
const underFire = part('under fire');

await asFastAsCan(4, goodAtOnce, () => askOne());
const most = await asFastAsCan(4, goodAtOnce, () => askOne());
const rate = values.rate === undefined ? Math.round(most / 2) : Number(values.rate);
console.log(
  `Up to ${most.toFixed(0)} good requests are answered a second, and ${rate} a second are asked for.\n`,
);

const goodRate = rate * (1 - hostileShare);
const quietTotal = Math.max(2_000, total / 10);
await measured(quiet, () =>
  pace({ rate: goodRate, total: quietTotal, concurrency: goodAtOnce }, () => askOne(quiet.times)),
);
const atStart = await server.holdings();

console.log('| requests under fire | heap, MB |\n| --: | --: |');
row(0, atStart.heapMb.toFixed(2));
const heap: { requests: number; heapMb: number }[] = [];
const asked = total / points;
// A heap that has just been collected whole, as the bench has it done, is slower for a second or two.
const settle = () => pace({ rate: goodRate, total: 2 * rate, concurrency: goodAtOnce }, () => askOne());
for (let point = 1; point <= points; point += 1) {
  const fire = { rate: rate * hostileShare, total: asked * hostileShare, concurrency: hostileAtOnce };
  const demand = { rate: goodRate, total: asked * (1 - hostileShare), concurrency: goodAtOnce };
  await settle();
  await measured(underFire, () =>
    Promise.all([pace(demand, () => askOne(underFire.times)), pace(fire, attackOnce)]),
  );
  const { heapMb } = await server.holdings();
  heap.push({ requests: asked * point, heapMb });
  row(asked * point, heapMb.toFixed(2));
}

await client.close();
await hostileClient.close();
// Until the server has seen that these connections are gone, and has closed those to REST that it no longer needs.
await new Promise((resolve) => setTimeout(resolve, 6_000));
const atEnd = await server.holdings();
const calls = await upstream.calls();
const errors = server.errors();
const exitCode = await server.close();
upstream.close();

const parts = { quiet, underFire };
const { leaks, lines } = server;
const isWhole = report({
  good,
  hostile,
  wrong,
  watch,
  heap,
  atStart,
  atEnd,
  parts,
  calls,
  errors,
  leaks: leaks(),
  lines: lines(),
  exitCode,
});
process.exitCode = isWhole ? 0 : 1;
