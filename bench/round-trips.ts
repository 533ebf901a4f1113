/**
 * `npm run bench:calls`: what the screens of a merchant's back office cost in REST calls and in time. Each is looked at
 * in four ways, at three distances to REST, and every answer is held against the hand-written client's, field by field.
 * Prints Markdown, for bench/results. `--short` looks at each a few times from nearby.
 */

import { deepStrictEqual } from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config/config.ts';
import { createRestApi } from '../src/rest/api.ts';
import { createRestClient } from '../src/rest/client/client.ts';
import { createApp } from '../src/server/app.ts';
import { markdownTable, median } from './markdown-table.ts';
import { createRest } from './rest.ts';
import { type Screen, screens } from './screens.ts';
import { startUpstream } from './upstream.ts';

/** How far away REST is, and how many runs count. */
interface Distance {
  delayMs: number;
  runs: number;
}

/** What looking at a screen costs. */
interface Cost {
  /** REST calls, of each run. */
  calls: number[];
  /** The median of all runs, in milliseconds. */
  ms: number;
}

/** Looks at something once, and answers what it shows. */
type View = () => Promise<unknown>;

/** A way to look at screens. The inner function is called before each run, outside of what is measured. */
type Way = (screen: Screen) => () => Promise<View>;

const { short: isShort } = parseArgs({ options: { short: { type: 'boolean', default: false } } }).values;
// The nearer REST is, the more the times vary, and the shorter a run is.
const distances: Distance[] = isShort
  ? [{ delayMs: 0, runs: 3 }]
  : [
      { delayMs: 0, runs: 9 },
      { delayMs: 20, runs: 7 },
      { delayMs: 100, runs: 3 },
    ];
// These come before the runs that count.
const warmUps = 2;
// Nothing known from earlier operations, and each record asked for by its own id.
const oneGetPerId = {
  UPSTREAM_LISTS_FOR_BATCHES: 'no',
  REFERENCE_DATA_MS: '0',
};
// The sandbox's two merchants.
const token = 'sandbox-cafe-andino';
const otherToken = 'sandbox-sur-textil';

const upstream = await startUpstream('sandbox-process.ts');
const rest = createRest(upstream.url, token);
// Connections to REST are kept open from one server to the next, as the hand-written client's are.
const client = createRestClient({ baseUrl: new URL(upstream.url), ...readConfig({}).rest });

/** A server that is asked by `fetch` in this process, and asks REST over HTTP. */
function createWaybill(environment: Record<string, string> = {}) {
  const config = readConfig(environment);
  const app = createApp({
    ...config.app,
    api: createRestApi(client, config.parameterNames),
    publicUrl: () => new URL('http://waybill.bench'),
    report: (error) => {
      throw error;
    },
  });
  return async ({ name, query, variables }: Screen, bearer: string): Promise<unknown> => {
    const response = await app.fetch('http://waybill.bench/graphql', {
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

/** A token that the server has not seen: its documents are parsed and compiled, but nothing of the merchant is known. */
const cold: Way = (screen) => async () => {
  const ask = createWaybill();
  await ask(screen, otherToken).catch(() => {}); // The other merchant may not have what the screen names.
  return () => ask(screen, token);
};

/** One server for all runs of a screen, with these settings. */
function steady(environment?: Record<string, string>): Way {
  return (screen) => {
    const ask = createWaybill(environment);
    return async () => () => ask(screen, token);
  };
}

const ways: Record<string, Way> = {
  cold,
  warm: steady(),
  'GET per id': steady(oneGetPerId),
  'by hand': (screen) => async () => () => screen.byRest(rest),
};

/** Looks again and again. `prepare` makes ready for a run, without delay; `check` throws where an answer is not right. */
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
    const startedAt = performance.now();
    const answer = await view();
    const ms = performance.now() - startedAt;
    const { count } = await turnTo(0);
    check(answer);
    if (run < 0) continue;
    times.push(ms);
    calls.push(count);
  }
  return { calls, ms: median(times) };
}

/** @throws AssertionError where an answer differs from what the hand-written client says. */
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

/** Of a value, the fields that a shape has too, at any depth. */
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

/** The median: `4`, or `4 (up to 77)` where a run took more. */
function shownCalls(calls: readonly number[]): string {
  const most = Math.max(...calls);
  const usual = median(calls);
  return most > usual ? `${usual} (up to ${most})` : `${usual}`;
}

function shownMs(ms: number): string {
  return ms.toFixed(ms < 100 ? 1 : 0);
}

/**
 * How long the order board takes, in calls that have to wait for each other: a page of orders, and then one of the
 * shipments that these name, which is two; where the shipments are asked for ahead, it is one.
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
    `A page of 100 orders takes ${shownMs(orders.ms)} ms and one of 100 shipments ${shownMs(shipments.ms)} ms: two calls in turn`,
    `are ${shownMs(two)} ms, and one is ${shownMs(one)} ms. Both at once take ${shownMs(atOnce.ms)} ms.\n`,
    markdownTable(['order board', 'ms', 'times two calls', 'times one call', 'times both at once'], rows),
  ].join('\n');
}

try {
  // Until the code is compiled, whichever way comes first would look slow.
  if (!isShort) for (const screen of screens) await costsOf(screen, { delayMs: 0, runs: 2 });

  const date = new Date().toISOString().slice(0, 10);
  console.log(`${date}, Node ${process.versions.node}, ${availableParallelism()} cores.`);
  for (const at of distances) {
    const rows = [];
    for (const screen of screens) rows.push({ screen: screen.name, costs: await costsOf(screen, at) });
    console.log(`\n### ${at.delayMs} ms from REST, ${at.runs} runs\n\n${screensTable(rows)}`);
  }
  const inCalls = await orderBoardInCalls({ delayMs: 20, runs: isShort ? 3 : 15 });
  console.log(`\n### The order board in calls, 20 ms from REST\n\n${inCalls}`);
} finally {
  await client.close();
  await rest.close();
  upstream.close();
}
