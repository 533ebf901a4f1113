/**
 * `npm run bench:calls`: measures the REST calls and the time of eleven screens of a merchant's back office. Each
 * screen is loaded in four ways, with three delays of REST. Every response is compared with the data of the
 * hand-written client, field by field. Prints Markdown. `--short` loads each screen a few times without a delay.
 */

import { deepStrictEqual } from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config/config.ts';
import { type RunningServer, startServer } from '../src/process/start-server.ts';
import { silentLog } from '../src/telemetry/log.ts';
import { openSqliteStore } from '../src/writes/store/sqlite-store.ts';
import { markdownTable, median } from './markdown-table.ts';
import { createRest } from './rest.ts';
import { orderBoardFarDown, type Question, type Screen, screens } from './screens.ts';
import { startUpstream } from './upstream.ts';

/** The delay of REST, and the number of runs that count. */
interface Distance {
  delayMs: number;
  runs: number;
}

/** The cost of loading a screen. */
interface Cost {
  /** The REST calls of each run. */
  calls: number[];
  /** The median of all runs, in milliseconds. */
  ms: number;
}

/** Loads something once, and returns its data. */
type View = () => Promise<unknown>;

/** A way to load screens. The inner function prepares a run, and its time is not measured. */
type Way = (screen: Screen) => () => Promise<View>;

const { short: isShort } = parseArgs({ options: { short: { type: 'boolean', default: false } } }).values;
// With a shorter delay, times vary more and a run is shorter, so more runs are possible.
const distances: Distance[] = isShort
  ? [{ delayMs: 0, runs: 3 }]
  : [
      { delayMs: 0, runs: 9 },
      { delayMs: 20, runs: 7 },
      { delayMs: 100, runs: 3 },
    ];
// Runs before the runs that count.
const warmUps = 2;
// Waybill uses no data of earlier operations, and reads each record by its id.
const oneGetPerId = {
  UPSTREAM_LISTS_FOR_BATCHES: 'no',
  REFERENCE_DATA_MS: '0',
};
// The sandbox's two merchants.
const token = 'sandbox-cafe-andino';
const otherToken = 'sandbox-sur-textil';

const upstream = await startUpstream('sandbox-process.ts');
const rest = createRest(upstream.url, token);
const servers: RunningServer[] = [];

/** Starts a server in this process, until `endServers`. @returns a function that sends it a query over HTTP. */
async function startWaybill(environment: Record<string, string> = {}) {
  // Without metrics, which belong to the process that all servers share.
  const config = readConfig({ PORT: '0', UPSTREAM_URL: upstream.url, METRICS: 'no', ...environment });
  const server = await startServer(config, {
    upstream: { url: new URL(upstream.url), bearer: undefined, close: async () => {} },
    trustedDocuments: undefined,
    keyStore: await openSqliteStore({ file: 'memory' }),
    log: silentLog,
  });
  servers.push(server);
  return async ({ name, query, variables }: Question, bearer: string): Promise<unknown> => {
    const response = await fetch(new URL('/graphql', server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = await response.json();
    if (errors !== undefined)
      throw new Error(`Expected the ${name} whole, but got ${JSON.stringify(errors)}`);
    return data;
  };
}

async function endServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.end('interrupted')));
}

/** A token that is new to the server. Documents are compiled already, but the server has no data of the merchant. */
const cold: Way = (screen) => async () => {
  const ask = await startWaybill();
  // Compiles the document, and opens connections.
  await ask(screen, otherToken).catch(() => {}); // The other merchant may not have the records of the screen.
  return () => ask(screen, token);
};

/** One server with these settings for all runs of a screen. */
function steady(environment?: Record<string, string>): Way {
  return (screen) => {
    const started = startWaybill(environment);
    return async () => {
      const ask = await started;
      return () => ask(screen, token);
    };
  };
}

const ways: Record<string, Way> = {
  cold,
  warm: steady(),
  'GET per id': steady(oneGetPerId),
  'by hand': (screen) => async () => () => screen.byRest(rest),
};

/** Measures all runs, and ends the servers. `prepare` prepares a run without a delay. `check` throws if a response is wrong. */
async function measure(
  { delayMs, runs }: Distance,
  prepare: () => Promise<View>,
  check: (answer: unknown) => void = () => {},
): Promise<Cost> {
  const calls: number[] = [];
  const times: number[] = [];
  const turnTo = (delayMs: number) => upstream.turnTo({ delayMs, keepsCalls: false });
  for (let run = -warmUps; run < runs; run++) {
    await turnTo(0);
    const view = await prepare();
    await turnTo(delayMs);
    const startedAtMs = performance.now();
    const answer = await view();
    const ms = performance.now() - startedAtMs;
    const { count } = await turnTo(0);
    check(answer);
    if (run < 0) continue;
    times.push(ms);
    calls.push(count);
  }
  await endServers();
  return { calls, ms: median(times) };
}

/** @throws AssertionError if a response differs from the data of the hand-written client. */
async function costsOf(screen: Screen, at: Distance): Promise<Cost[]> {
  const expected = await screen.byRest(rest);
  const costs: Cost[] = [];
  for (const [name, way] of Object.entries(ways)) {
    const title = `${screen.name}, ${name}`;
    const check = (answer: unknown) =>
      deepStrictEqual({ [title]: answer }, { [title]: fieldsOf(answer, expected) });
    costs.push(await measure(at, way(screen), check));
  }
  return costs;
}

/** The fields of a value that a shape has too, at any depth. */
function fieldsOf(shape: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => fieldsOf(Object(shape)[index], item));
  if (typeof value !== 'object' || value === null || typeof shape !== 'object' || shape === null)
    return value;
  const fields = new Map(Object.entries(value));
  return Object.fromEntries(
    Object.entries(shape).map(([name, inner]) => [name, fieldsOf(inner, fields.get(name))]),
  );
}

function screensTable(rows: { screen: string; costs: Cost[] }[]): string {
  const head = Object.keys(ways).flatMap((way) => [`${way}: calls`, 'ms']);
  return markdownTable(
    ['screen', ...head],
    rows.map(({ screen, costs }) => [
      screen,
      ...costs.flatMap(({ calls, ms }) => [shownCalls(calls), shownMs(ms)]),
    ]),
  );
}

/** The median: `4`, or `4 (up to 77)` if a run took more calls. */
function shownCalls(calls: readonly number[]): string {
  const most = Math.max(...calls);
  const usual = median(calls);
  return most > usual ? `${usual} (up to ${most})` : `${usual}`;
}

function shownMs(ms: number): string {
  return ms.toFixed(ms < 100 ? 1 : 0);
}

/**
 * Compares the time of the order board with the time of its calls. A page of orders and then a page of their shipments
 * are two calls, one after the other. If the page of shipments is prefetched, both calls run at the same time.
 */
async function orderBoardInCalls(at: Distance): Promise<string> {
  const [orderBoard] = screens;
  const page = (path: string) => rest.page(path, { pageSize: 100 });
  const orders = await measure(at, async () => () => page('orders'));
  const shipments = await measure(at, async () => () => page('shipments'));
  const atOnce = await measure(at, async () => () => Promise.all(['orders', 'shipments'].map(page)));
  const one = Math.max(orders.ms, shipments.ms);
  const two = orders.ms + shipments.ms;
  const costs = {
    cold: await measure(at, cold(orderBoard)),
    warm: await measure(at, steady()(orderBoard)),
  };
  const rows = Object.entries(costs).map(([name, { ms }]) => {
    const times = [two, one, atOnce.ms].map((unit) => (ms / unit).toFixed(2));
    return [name, shownMs(ms), ...times];
  });
  return [
    `A page of 100 orders takes ${shownMs(orders.ms)} ms, and a page of 100 shipments ${shownMs(shipments.ms)} ms.`,
    `Two calls in turn take ${shownMs(two)} ms, and one call takes ${shownMs(one)} ms.`,
    `Both pages at once take ${shownMs(atOnce.ms)} ms.\n`,
    markdownTable(['order board', 'ms', 'times two calls', 'times one call', 'times both at once'], rows),
  ].join('\n');
}

/** The end cursor of a page of orders. Every server accepts the cursors of a token, so they come from a server that is not measured. */
async function endCursorOf(question: Question): Promise<string> {
  const ask = await startWaybill();
  // The query of the page asks for these fields.
  const data = (await ask(question, token)) as { orders: { pageInfo: { endCursor: string } } };
  return data.orders.pageInfo.endCursor;
}

try {
  const measured = [...screens, await orderBoardFarDown(rest, endCursorOf)];
  // Compiles the code first. Otherwise the first way of all would look slow.
  if (!isShort) for (const screen of measured) await costsOf(screen, { delayMs: 0, runs: 2 });

  const date = new Date().toISOString().slice(0, 10);
  console.log(`${date}, Node ${process.versions.node}, ${availableParallelism()} cores.`);
  for (const at of distances) {
    const rows = [];
    for (const screen of measured) rows.push({ screen: screen.name, costs: await costsOf(screen, at) });
    console.log(`\n### ${at.delayMs} ms from REST, ${at.runs} runs\n\n${screensTable(rows)}`);
  }
  const inCalls = await orderBoardInCalls({ delayMs: 20, runs: isShort ? 3 : 15 });
  console.log(`\n### The order board in calls, 20 ms from REST\n\n${inCalls}`);
} finally {
  await endServers();
  await rest.close();
  upstream.close();
}
