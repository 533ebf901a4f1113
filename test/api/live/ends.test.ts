import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
import { RetryLink } from '@apollo/client/link/retry';
import { type AnyVariables, Client, fetchExchange, type OperationResult } from '@urql/core';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-sse';
import { afterEach, describe, expect, test } from 'vitest';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { type LiveClient, multipart, sse, watchLive } from '../../fixtures/live-client.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill, type Waybill, type WaybillOptions } from '../../harness.ts';

const open: AsyncDisposable[] = [];
const clients: (() => void)[] = [];
afterEach(async () => {
  for (const close of clients.splice(0)) close();
  for (const disposable of open.splice(0)) await disposable[Symbol.asyncDispose]();
});

async function start(
  environment: Record<string, string> = {},
  options: WaybillOptions = {},
): Promise<Waybill> {
  const waybill = await startWaybill({ LIVE_INTERVAL_MS: '30', ...environment }, options);
  open.push(waybill);
  return waybill;
}

async function watch({ url }: { url: URL }, query: string, accept = sse): Promise<LiveClient> {
  const client = await watchLive(url, { query, accept });
  clients.push(client.close);
  return client;
}

const order = 'subscription Notes { order(id: "ca2496") { notes } }';
const patience = { timeout: 90_000 };

test('a stream sends one event at the start of a REST outage and one at the end', async () => {
  const waybill = await start();
  const client = await watch(waybill, order);
  await client.event(1);
  const comeBack = waybill.sandbox.faults.add({ kind: 'status', status: 503 });
  expect(await client.event(2)).toMatchObject({
    data: { order: null },
    errors: [{ path: ['order'], extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }],
  });
  const readsBefore = waybill.sandbox.requests.lines().length;
  await expect.poll(() => waybill.sandbox.requests.lines().length, patience).toBeGreaterThan(readsBefore + 2);
  expect(client.events).toHaveLength(2);
  comeBack();
  expect(await client.event(3)).toEqual(client.events[0]);
  expect(client.end()).toBeUndefined();
});

test('an internal error causes one event, and the stream continues', async () => {
  let runs = 0;
  const reports: unknown[] = [];
  const waybill = await start(
    {},
    {
      execute() {
        runs += 1;
        if (runs === 2 || runs === 3) throw new TypeError('a bug');
        return { data: { order: { notes: 'here' } } };
      },
      report: (error) => reports.push(error),
    },
  );
  const client = await watch(waybill, order);
  expect(await client.event(1)).toEqual({ data: { order: { notes: 'here' } } });
  expect(await client.event(2)).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  });
  expect(await client.event(3)).toEqual(client.events[0]);
  expect(client.events).toHaveLength(3);
  expect(reports).toHaveLength(2);
  expect(client.end()).toBeUndefined();
});

test('a failed field does not remove the other fields from the event', async () => {
  const waybill = await start();
  waybill.sandbox.faults.add({ kind: 'status', status: 503, path: '/v1/shipments/ca2036' });
  const client = await watch(waybill, 'subscription { order(id: "ca2481") { id shipment { status } } }');
  expect(await client.event(1)).toMatchObject({
    data: { order: { id: 'orders/ca2481', shipment: null } },
    errors: [{ path: ['order', 'shipment'] }],
  });
});

describe.each([
  ['SSE', sse],
  ['multipart', multipart],
])('a stream by %s', (_name, accept) => {
  test('ends with UNAUTHENTICATED if REST rejects the token later', async () => {
    const waybill = await start();
    const client = await watch(waybill, order, accept);
    await client.event(1);
    waybill.sandbox.endToken(waybill.sandbox.tokens.first);
    expect(await client.ended()).toBe('complete');
    expect(client.events).toHaveLength(2);
    expect(client.events[1]).toMatchObject({
      data: { order: null },
      errors: [{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }],
    });
  });

  test('ends with UNAUTHENTICATED after one call if REST does not know the token', async () => {
    const waybill = await start();
    const client = await watchLive(waybill.url, { query: order, accept, authorization: 'Bearer made-up' });
    expect(await client.ended()).toBe('complete');
    expect([client.status, client.events]).toMatchObject([
      200,
      [{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }],
    ]);
    expect(waybill.sandbox.requests.lines()).toHaveLength(1);
  });

  test('ends without the completion event at a shutdown', async () => {
    const waybill = await start({ DRAIN_GRACE_MS: '10000' });
    const client = await watch(waybill, order, accept);
    await client.event(1);
    open.splice(0);
    await waybill[Symbol.asyncDispose]();
    expect(await client.ended()).toBe('ended');
  });
});

test('the log has one line per stream, which says how the stream ended', async () => {
  const { log, lines } = recordedLog();
  const waybill = await start({}, { log });
  const client = await watchLive(waybill.url, { query: order, headers: { 'x-request-id': 'mine' } });
  await client.event(1);
  client.close();
  await expect.poll(() => lines().length, patience).toBe(1);
  expect(lines()).toEqual([
    {
      level: 'info',
      requestId: 'mine',
      operation: 'Notes',
      type: 'subscription',
      tenant: expect.stringMatching(/^[\w-]{12}$/),
      ms: 'a time',
      transport: 'sse',
      events: 1,
      end: 'client',
      msg: 'a subscription stream ended',
    },
  ]);
});

const endLine = ({ lines }: ReturnType<typeof recordedLog>) =>
  expect.poll(() => lines().filter(({ msg }) => msg === 'a subscription stream ended'), patience);

describe.each([
  ['SSE', sse],
  ['multipart', multipart],
])('the log line of a stream by %s', (_name, accept) => {
  test('counts the last event of a rejected token', async () => {
    const recorded = recordedLog();
    const waybill = await start({}, { log: recorded.log });
    const client = await watch(waybill, order, accept);
    await client.event(1);
    waybill.sandbox.endToken(waybill.sandbox.tokens.first);
    expect(await client.ended()).toBe('complete');
    await endLine(recorded).toMatchObject([
      { events: 2, end: 'rejected token', errors: { UNAUTHENTICATED: 1 } },
    ]);
  });

  test('counts the only event of an unknown token', async () => {
    const recorded = recordedLog();
    const waybill = await start({}, { log: recorded.log });
    const client = await watchLive(waybill.url, { query: order, accept, authorization: 'Bearer made-up' });
    expect(await client.ended()).toBe('complete');
    await endLine(recorded).toMatchObject([
      { events: 1, end: 'rejected token', errors: { UNAUTHENTICATED: 1 } },
    ]);
  });

  test('counts the only event of a refused operation', async () => {
    const recorded = recordedLog();
    const waybill = await start({}, { log: recorded.log });
    const tooMany =
      'subscription { orders(first: 1000) { nodes { recipient { orders(first: 100) { nodes { id } } } } } }';
    const client = await watch(waybill, tooMany, accept);
    expect(await client.ended()).toBe('complete');
    await endLine(recorded).toMatchObject([{ events: 1, end: 'refused' }]);
  });
});

test('the metrics count streams, runs and pushes', async () => {
  const { log } = recordedLog();
  const telemetry = {
    ...(await startTelemetry({ metrics: true, tracing: false }, log)),
    metrics: createMetrics(),
  };
  const waybill = await start({ METRICS: 'yes' }, { telemetry });
  const client = await watch(waybill, order);
  await client.event(1);
  const value = async (name: string) => {
    const { body } = await telemetry.metrics.page();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]);
  };
  expect(await value('waybill_live_streams')).toBe(1);
  await expect.poll(() => value('waybill_live_runs_total{outcome="changed"}'), patience).toBe(1);
  await expect.poll(() => value('waybill_live_runs_total{outcome="same"}'), patience).toBeGreaterThan(0);
  expect(await value('waybill_live_push_seconds_count')).toBe(1);
  expect(await value('waybill_requests_in_flight{route="graphql"}')).toBe(0);
  client.close();
  await expect.poll(() => value('waybill_live_streams'), patience).toBe(0);
});

test('a client that stops reading is disconnected, and the other stream goes on', async () => {
  let count = 0;
  const text = 'x'.repeat(1_000_000);
  const { log, lines } = recordedLog();
  await using app = await startApp(
    (_request, response) => {
      count += 1;
      const json = { ...orderJson, notes: `${count}${text}` };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    },
    { LIVE_INTERVAL_MS: '30' },
    { log, listener: { responseTimeoutMs: 1_000 } },
  );
  const body = JSON.stringify({ query: 'subscription { order(id: "1") { notes } }' });
  const request = `POST /graphql HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\nauthorization: Bearer a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const sockets = [0, 1].map(() => connect(Number(app.url.port), app.url.hostname));
  const [stopped, reading] = sockets;
  let bytes = 0;
  reading?.on('data', (chunk) => {
    bytes += chunk.length;
  });
  stopped?.pause();
  for (const socket of sockets) socket.write(request);
  const ends = () => lines().flatMap(({ msg, end }) => (msg === 'a subscription stream ended' ? [end] : []));
  await expect.poll(ends, patience).toEqual(['client']);
  const before = bytes;
  // More than what was on its way.
  await expect.poll(() => bytes, patience).toBeGreaterThan(before + 3 * text.length);
  for (const socket of sockets) socket.destroy();
});

/** An order as REST sends it. */
const orderJson = { name: 'orders/1', createTime: '2026-11-01T00:00:00Z' };

/** A server whose open streams a test can end, as the server itself does after an hour. */
async function startBreakable() {
  const responses = new Set<ServerResponse>();
  const waybill = await start(
    {},
    {
      intercept: (app) => (request, response) => {
        responses.add(response);
        app(request, response);
      },
    },
  );
  const breakAll = () => {
    for (const response of responses) response.end();
    responses.clear();
  };
  return { waybill, breakAll };
}

// The recipes of docs/api-reference.md.
const retryLink = new RetryLink({
  delay: { initial: 10, max: 50 },
  attempts: {
    max: Number.POSITIVE_INFINITY,
    retryIf: (_error, { operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
  },
});

function watchAgain<Data>(
  client: Client,
  query: string,
  variables: AnyVariables,
  onResult: (result: OperationResult<Data>) => void,
): () => void {
  let isOver = false;
  let stop = () => {};
  function watch(): void {
    ({ unsubscribe: stop } = client.subscription<Data>(query, variables).subscribe((result) => {
      onResult(result);
      isOver ||=
        result.error?.graphQLErrors.some(({ extensions }) => extensions.code === 'UNAUTHENTICATED') === true;
      if (!result.hasNext && !isOver) setTimeout(() => isOver || watch(), 10 * (1 + Math.random()));
    }));
  }
  watch();
  return () => {
    isOver = true;
    stop();
  };
}

interface Notes {
  order?: { notes?: string } | null;
}

type Watch = (waybill: Waybill, onNotes: (notes: string | undefined) => void) => () => void;

const recipes: [name: string, watch: Watch][] = [
  [
    'Apollo Client with a RetryLink',
    ({ url, authorization }, onNotes) => {
      const http = new HttpLink({ uri: new URL('/graphql', url).href, headers: { authorization } });
      const client = new ApolloClient({
        link: ApolloLink.from([retryLink, http]),
        cache: new InMemoryCache(),
      });
      const subscription = client
        .subscribe<Notes>({ query: gql(order) })
        .subscribe(({ data }) => onNotes(data?.order?.notes));
      return () => subscription.unsubscribe();
    },
  ],
  [
    'urql',
    ({ url, authorization }, onNotes) => {
      const client = new Client({
        url: new URL('/graphql', url).href,
        exchanges: [fetchExchange],
        fetchSubscriptions: true,
        preferGetMethod: false,
        fetchOptions: { headers: { authorization } },
      });
      return watchAgain<Notes>(client, order, {}, ({ data }) => onNotes(data?.order?.notes));
    },
  ],
  [
    'graphql-sse',
    ({ url, authorization }, onNotes) => {
      const client = createClient({
        url: new URL('/graphql', url).href,
        headers: { authorization },
        retryAttempts: Number.POSITIVE_INFINITY,
        retry: async () => {},
      });
      client.subscribe<Notes>(
        { query: order },
        { next: ({ data }) => onNotes(data?.order?.notes), error: () => {}, complete: () => {} },
      );
      return () => client.dispose();
    },
  ],
];

test.each(recipes)('%s reconnects after the server has ended the stream', async (_name, watchNotes) => {
  const { waybill, breakAll } = await startBreakable();
  const notes: (string | undefined)[] = [];
  clients.push(watchNotes(waybill, (value) => notes.push(value)));
  await expect.poll(() => notes.length, patience).toBeGreaterThan(0);
  const [before] = notes;
  breakAll();
  const update = 'mutation { updateOrder(input: { id: "orders/ca2496", notes: "changed" }) { __typename } }';
  await waybill.ask(update);
  await expect.poll(() => notes.at(-1), patience).toBe('changed');
  expect(notes.at(0)).toBe(before);
});
