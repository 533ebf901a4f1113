import { expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults/faults.ts';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry, type Telemetry } from '../../../src/telemetry/telemetry.ts';
import { StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { codeBlockOf, readPage, sectionOf } from '../../fixtures/markdown.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { inputFor, literal } from '../../fixtures/mutation-inputs.ts';
import { fires, parseScrape, type Scrape } from '../../fixtures/promql.ts';
import { answerJson, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill, type Waybill, type WaybillOptions } from '../../harness.ts';

// Each alert of the docs fires for its fault, and for no other one.

/** The alerts of the docs by the first words of their comment. */
const alerts = new Map(
  codeBlockOf(sectionOf(readPage('docs/operations/observe.md'), 'Alerts worth setting'), 'promql')
    .trim()
    .split('\n\n')
    .map((block): [string, string] => {
      const lines = block.split('\n');
      const text = lines.filter((line) => !line.startsWith('#')).map((line) => line.trim());
      return [lines[0]?.slice(2) ?? '', text.join(' ')];
    }),
);

const bug = 'Waybill has a bug.';
const restFails = 'More than 5 % of the REST calls fail: a server error, or no response.';
const restLimits = 'The REST service rejects calls because of its rate limit.';
const ownLimit = 'RATE_LIMIT_POINTS_PER_SECOND refuses requests.';
const circuit = 'A circuit breaker is open.';
const overload = 'Waybill refuses work: requests above a limit, or keyed writes while their store fails.';
const connections = 'Waybill closes connections above MAX_CONNECTIONS.';
const waiting = 'Calls wait for a connection to REST.';
const slow = 'One of 100 operations without errors takes more than 2.5 seconds, a bound of the buckets.';
const busy = 'The process is too busy.';
const parameters = 'The REST service does not seem to know a list parameter.';
const store = 'The key store has a problem.';
const drift = 'A REST record differs from the REST interface.';
const unknownWrite = 'A write has no usable response of REST: its outcome may be unknown.';
const noOrganization =
  'Since the start, a token could not read its organization, so no other token shares its keys.';
const tested = new Set<string>();

function firing(scrapes: readonly Scrape[]): string[] {
  const titles = [...alerts].filter(([, alert]) => fires(alert, scrapes)).map(([title]) => title);
  for (const title of titles) tested.add(title);
  return titles;
}

/** The metrics of Waybill. Those of the process depend on what else the machine does. */
async function metricsOf({ metrics }: Telemetry): Promise<Scrape> {
  const all = parseScrape((await metrics?.page())?.body ?? '');
  return new Map([...all].filter(([name]) => name.startsWith('waybill_')));
}

interface Scenario {
  environment?: Record<string, string>;
  options?: WaybillOptions;
  fault?: Fault;
  run(waybill: Waybill): Promise<unknown>;
}

/** The alerts that fire after each of two runs of a scenario. The first run makes the series. */
async function alertsAfter({ environment = {}, options = {}, fault, run }: Scenario): Promise<string[]> {
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
  await using waybill = await startWaybill(environment, { ...options, telemetry });
  const scrapes = [await metricsOf(telemetry)];
  if (fault !== undefined) waybill.sandbox.faults.add(fault);
  for (let times = 0; times < 2; times += 1) {
    await run(waybill);
    scrapes.push(await metricsOf(telemetry));
  }
  return firing(scrapes);
}

const order = '{ order(id: "ca2481") { id status } }';
const orders = '{ orders(first: 10) { nodes { id status } } }';
/** Asks one after the other, as equal queries at the same time share a response. */
const ask =
  (query: string, times = 1, bearers: (keyof Waybill['sandbox']['tokens'])[] = ['first']) =>
  async ({ ask, sandbox }: Waybill) => {
    for (let count = 0; count < times; count += 1) {
      for (const bearer of bearers) await ask(query, {}, sandbox.tokens[bearer]);
    }
  };

const createOrder = ({ ask }: Waybill) => {
  const input = { ...inputFor('createOrder'), idempotencyKey: crypto.randomUUID() };
  return ask(`mutation { createOrder(input: ${literal(input)}) { __typename } }`);
};

const getOrder = '/v1/orders/ca2481';
const failing: Fault = { kind: 'status', status: 503 };

test.each<[string, string[], Scenario]>([
  ['successful reads', [], { run: ask(orders, 3) }],
  ['403 responses of the REST service', [], { fault: { kind: 'status', status: 403 }, run: ask(order, 5) }],
  ['missing records', [], { run: ask('{ order(id: "none") { id } }', 5) }],
  ['server errors', [restFails], { fault: failing, run: ask(order, 10) }],
  ['broken connections', [restFails], { fault: { kind: 'reset' }, run: ask(order, 10) }],
  [
    'upstream timeouts',
    [restFails],
    { environment: { UPSTREAM_TIMEOUT_MS: '100' }, fault: { kind: 'hang' }, run: ask(order, 3) },
  ],
  [
    'server errors for all tokens',
    [restFails, circuit],
    // The first run has 18 failed calls, and the breaker opens at 20.
    { fault: { ...failing, path: getOrder }, run: ask(order, 9, ['first', 'second']) },
  ],
  [
    '429 responses of the REST service',
    [restLimits],
    { fault: { kind: 'status', status: 429 }, run: ask(order, 5) },
  ],
  [
    'requests above the rate limit of Waybill',
    [ownLimit],
    { environment: { RATE_LIMIT_POINTS_PER_SECOND: '1' }, run: ask(orders, 5) },
  ],
  ['reads of 1.2 seconds', [], { fault: { kind: 'delay', delayMs: 1_200 }, run: ask(order) }],
  ['reads of 2.6 seconds', [slow], { fault: { kind: 'delay', delayMs: 2_600 }, run: ask(order) }],
  [
    'an unknown order status',
    [drift],
    {
      fault: { kind: 'change', path: getOrder, change: (json) => ({ ...Object(json), status: 'NEWER' }) },
      run: ask(order),
    },
  ],
  [
    'clients that disconnect',
    [],
    {
      fault: { kind: 'delay', delayMs: 100 },
      async run({ fetch, sandbox }) {
        for (let count = 0; count < 5; count += 1) {
          const response = fetch('/graphql', {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              authorization: `Bearer ${sandbox.tokens.first}`,
            },
            body: JSON.stringify({ query: order }),
            signal: AbortSignal.timeout(20),
          });
          await response.catch(() => {});
        }
      },
    },
  ],
  [
    'a wrong STATUS_PARAMETER',
    [parameters],
    {
      environment: { STATUS_PARAMETER: 'wrong' },
      run: ask('{ orders(first: 10, status: [CANCELLED]) { nodes { id } } }'),
    },
  ],
  [
    'writes that get a 503',
    [restFails, unknownWrite],
    { fault: { ...failing, method: 'POST', path: '/v1/orders' }, run: createOrder },
  ],
  [
    'writes of a token without an organization',
    [noOrganization],
    { fault: { kind: 'status', status: 403, path: '/v1/organizations/mine' }, run: createOrder },
  ],
  [
    'a failure of the key store',
    [overload],
    {
      options: {
        keyStore: {
          ...memoryStore,
          claim: async () => {
            throw new StoreUnavailableError('The disk of the key store is full.');
          },
        },
      },
      run: createOrder,
    },
  ],
])('these alerts fire after %s: %j', async (_fault, expected, scenario) => {
  expect(await alertsAfter(scenario)).toEqual(expected);
});

test('an alert fires while calls wait for a connection', async () => {
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
  await using waybill = await startWaybill({ UPSTREAM_CONNECTIONS: '1' }, { telemetry });
  const scrapes = [await metricsOf(telemetry)];
  const removeFault = waybill.sandbox.faults.add({ kind: 'delay', delayMs: 300, times: 1 });
  const ids = (from: number) => Array.from({ length: 100 }, (_, index) => `"quotes/q${from + index}"`);
  const all = [0, 100].map((from) => waybill.ask(`{ nodes(ids: [${ids(from)}]) { id } }`));
  await until(() => waybill.sandbox.requests.lines().length === 1);
  scrapes.push(await metricsOf(telemetry));
  expect(firing(scrapes)).toEqual([waiting]);
  removeFault();
  await Promise.all(all);
  scrapes.push(await metricsOf(telemetry));
  expect(firing(scrapes)).toEqual([]);
});

test('an alert fires after an internal error', async () => {
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
  const execute = () => {
    throw new Error('a bug');
  };
  await using waybill = await startApp(answerJson({ orders: [] }), {}, { telemetry, execute });
  const scrapes: Scrape[] = [];
  for (let times = 0; times < 2; times += 1) {
    await waybill.ask(orders);
    scrapes.push(await metricsOf(telemetry));
  }
  expect(firing(scrapes)).toEqual([bug]);
});

test('an alert fires after connections above the limit are closed', async () => {
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
  const scrapes: Scrape[] = [];
  for (let times = 0; times < 2; times += 1) {
    // What a connection above the limit counts.
    telemetry.metrics?.earlyError(undefined);
    scrapes.push(await metricsOf(telemetry));
  }
  expect(firing(scrapes)).toEqual([connections]);
});

test('an alert fires while the key store has a problem', async () => {
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
  telemetry.watchKeyStore({
    failure: () => 'The disk of the key store is full.',
    fileProblem: () => undefined,
    failover: () => undefined,
    onReport: (listener) => listener(),
  });
  expect(firing([await metricsOf(telemetry)])).toEqual([store]);
  telemetry.endOutages();
});

test.each([
  [0.09, []],
  [0.11, [busy]],
])('these alerts fire at an event-loop lag of %d seconds: %j', (seconds, expected) => {
  expect(firing([parseScrape(`nodejs_eventloop_lag_p99_seconds ${seconds}`)])).toEqual(expected);
});

test('every alert of the docs fires in one of these tests', () => {
  expect([...tested].sort()).toEqual([...alerts.keys()].sort());
});
