import { expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults/faults.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { startServer } from '../../fixtures/start-server.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

// The lines that faults of the sandbox leave in the log.

const order = (number: number) => `{ order(id: "ca${2481 - number}") { id status } }`;
const organization = '{ organization { id } }';

type Run = (waybill: Waybill) => Promise<unknown>;

/** Sends a query so often, one after the other. */
const ask =
  (query: string, times: number, bearer: 'first' | 'second' = 'first'): Run =>
  async ({ ask, sandbox }) => {
    for (let count = 0; count < times; count += 1) await ask(query, {}, sandbox.tokens[bearer]);
  };
const inTurn =
  (...runs: Run[]): Run =>
  async (waybill) => {
    for (const run of runs) await run(waybill);
  };

/** The begins of outages in the log, and their ends at the shutdown. */
async function outagesAfter(fault: Fault | undefined, run: Run, environment: Record<string, string> = {}) {
  const { log, lines } = recordedLog('warn');
  const telemetry = await startTelemetry({ metrics: false, tracing: false }, log);
  await using waybill = await startWaybill(environment, { telemetry });
  if (fault !== undefined) waybill.sandbox.faults.add(fault);
  await run(waybill);
  const begun = lines();
  telemetry.endOutages();
  const ended = lines().slice(begun.length);
  expect(ended.map(({ outage, since }) => ({ outage, since }))).toEqual(
    begun.map(({ outage, since }) => ({ outage, since })),
  );
  return begun.map(({ msg, route, reason, upstreamStatus, circuitOpen }) => ({
    msg,
    route,
    reason,
    upstreamStatus,
    circuitOpen,
  }));
}

const route = 'GET /v1/orders/{id}';
const silent = 'the REST service does not respond';
const limited = 'the REST service rejects calls because of its rate limit';
const path = /^\/v1\/orders\//;

test.each<[string, Fault, number, object]>([
  ['a 503', { kind: 'status', status: 503 }, 5, { msg: silent, route, reason: '503', upstreamStatus: 503 }],
  ['a broken connection', { kind: 'reset' }, 5, { msg: silent, route, reason: 'ECONNRESET' }],
  ['no response', { kind: 'hang' }, 5, { msg: silent, route, reason: 'timeout' }],
  ['a 429', { kind: 'status', status: 429 }, 5, { msg: limited, route, reason: '429', upstreamStatus: 429 }],
])('five calls that end with %s are logged as an outage', async (_fault, fault, times, line) => {
  // Only a call that hangs needs a short time. The others get their answers on a busy machine, too.
  const environment: Record<string, string> = fault.kind === 'hang' ? { UPSTREAM_TIMEOUT_MS: '100' } : {};
  expect(await outagesAfter(fault, ask(order(0), times - 1), environment)).toEqual([]);
  expect(await outagesAfter(fault, ask(order(0), times), environment)).toEqual([line]);
});

test('20 reads that take more than two seconds are logged as an outage', async () => {
  const all: Run = ({ ask }) => Promise.all(Array.from({ length: 20 }, (_, number) => ask(order(number))));
  const lines = await outagesAfter({ kind: 'delay', delayMs: 2_050 }, all);
  expect(lines).toEqual([{ msg: 'the REST service is slow', route, upstreamStatus: 200 }]);
});

test('an open circuit breaker is logged as an outage although other routes respond', async () => {
  const run = inTurn(ask(organization, 60), ask(order(0), 10), ask(order(0), 10, 'second'));
  const lines = await outagesAfter({ kind: 'status', status: 500, path }, run);
  expect(lines).toEqual([{ msg: silent, route, reason: '500', upstreamStatus: 500, circuitOpen: true }]);
});

test.each<[string, Fault | undefined, Run]>([
  ['successful reads', undefined, ask(organization, 50)],
  ['missing records', undefined, ask('{ order(id: "none") { id } }', 30)],
  ['403 responses', { kind: 'status', status: 403 }, ask(order(0), 30)],
  [
    'server errors of only one token',
    { kind: 'status', status: 500, path },
    inTurn(ask(organization, 1, 'second'), ask(order(0), 30)),
  ],
])('%s are not logged as an outage', async (_what, fault, run) => {
  expect(await outagesAfter(fault, run)).toEqual([]);
});

test('the log says why no connection to the REST service opens', async () => {
  const { log, lines } = recordedLog('warn');
  const telemetry = await startTelemetry({ metrics: false, tracing: false }, log);
  const restUrl = new URL(`http://127.0.0.1:${await freePort()}`);
  await using server = await startServer(restUrl, {}, { telemetry, report: () => {} });
  for (let count = 0; count < 5; count += 1) {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer token' };
    await server.fetch('/graphql', {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: order(count) }),
    });
  }
  expect(lines()).toMatchObject([{ msg: silent, route, reason: 'ECONNREFUSED' }]);
  telemetry.endOutages();
});
