import { spawn } from 'node:child_process';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
import { Client, fetchExchange } from '@urql/core';
import { createClient } from 'graphql-sse';
import {
  Environment,
  type GraphQLResponse,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults/faults.ts';
import { startWaybill, type Waybill } from '../../harness.ts';
import labelRequest from '../relay/__generated__/documentsLabelSubscription.graphql.ts';

// Each client with what it has by default: no link, exchange or transport of Waybill's own.

const text = 'subscription Label($id: ID!) { shipment(id: $id) { id status label { id } } }';
const variables = { id: 'shipments/ca2047' };

/** A watching client: the responses that it has given to its user, and why it ended. */
interface Watching {
  statuses: (string | undefined)[];
  errors: number;
  end: 'completed' | 'failed' | undefined;
  stop(): void;
}

interface Shipment {
  shipment?: { status?: string } | null;
}

type Start = (waybill: Waybill) => Watching;

function newWatching(): Watching {
  return { statuses: [], errors: 0, end: undefined, stop: () => {} };
}

const statusOf = (data: Shipment | null | undefined) => data?.shipment?.status;

const apolloBy =
  (errorPolicy?: 'all'): Start =>
  ({ url, authorization }) => {
    const link = new HttpLink({ uri: new URL('/graphql', url).href, headers: { authorization } });
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const watching = newWatching();
    const subscription = client
      .subscribe<Shipment>({ query: gql(text), variables, ...(errorPolicy && { errorPolicy }) })
      .subscribe({
        next({ data, error }) {
          if (error !== undefined) watching.errors += 1;
          watching.statuses.push(statusOf(data));
        },
        error() {
          watching.end = 'failed';
        },
        complete() {
          watching.end ??= 'completed';
        },
      });
    watching.stop = () => subscription.unsubscribe();
    return watching;
  };

const urql: Start = ({ url, authorization }) => {
  const client = new Client({
    url: new URL('/graphql', url).href,
    exchanges: [fetchExchange],
    fetchSubscriptions: true,
    preferGetMethod: false,
    fetchOptions: { headers: { authorization } },
  });
  const watching = newWatching();
  const { unsubscribe } = client
    .subscription<Shipment>(text, variables)
    .subscribe(({ data, error, hasNext }) => {
      if (error?.networkError !== undefined) watching.end = 'failed';
      else if (!hasNext) watching.end = 'completed';
      if (error !== undefined) watching.errors += 1;
      watching.statuses.push(statusOf(data));
    });
  watching.stop = unsubscribe;
  return watching;
};

const graphqlSse = ({ url, authorization }: Waybill) =>
  createClient({ url: new URL('/graphql', url).href, headers: { authorization }, retryAttempts: 0 });

const sse: Start = (waybill) => {
  const client = graphqlSse(waybill);
  const watching = newWatching();
  client.subscribe<Shipment>(
    { query: text, variables },
    {
      next({ data, errors }) {
        if (errors !== undefined) watching.errors += 1;
        watching.statuses.push(statusOf(data));
      },
      error() {
        watching.end = 'failed';
      },
      complete() {
        watching.end ??= 'completed';
      },
    },
  );
  watching.stop = () => client.dispose();
  return watching;
};

const relay: Start = (waybill) => {
  const client = graphqlSse(waybill);
  const network = Network.create(
    () => {
      throw new Error('This test has no query');
    },
    (operation, values) =>
      Observable.create((sink) =>
        client.subscribe(
          { query: operation.text ?? '', operationName: operation.name, variables: values },
          // Relay and graphql-sse have types of their own for one response of GraphQL.
          {
            ...sink,
            next: (response) => sink.next(response as GraphQLResponse),
            error: (error) => sink.error(Object(error)),
          },
        ),
      ),
  );
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  const watching = newWatching();
  const { dispose } = requestSubscription<{ response: Shipment; variables: typeof variables }>(environment, {
    subscription: labelRequest,
    variables,
    onNext: (data) => watching.statuses.push(statusOf(data)),
    onError() {
      watching.end = 'failed';
    },
    onCompleted() {
      watching.end ??= 'completed';
    },
  });
  watching.stop = () => {
    dispose();
    client.dispose();
  };
  return watching;
};

const curl: Start = ({ url, authorization }) => {
  const watching = newWatching();
  const process = spawn('curl', [
    '-sN',
    new URL('/graphql', url).href,
    ...['-H', `authorization: ${authorization}`],
    ...['-H', 'content-type: application/json', '-H', 'accept: text/event-stream'],
    ...['-d', JSON.stringify({ query: text, variables })],
  ]);
  let received = '';
  process.stdout.on('data', (chunk) => {
    received += chunk;
    const events = Array.from(received.matchAll(/data: (\{.*\})\n\n/g), ([, json = '']) => JSON.parse(json));
    watching.statuses = events.map(({ data }) => statusOf(data));
    watching.errors = events.filter(({ errors }) => errors !== undefined).length;
  });
  process.on('close', () => {
    watching.end = received.includes('event: complete') ? 'completed' : 'failed';
  });
  watching.stop = () => process.kill();
  return watching;
};

const clients: [name: string, start: Start][] = [
  ['Apollo Client with a plain HttpLink', apolloBy()],
  ['Apollo Client that takes data with errors', apolloBy('all')],
  ['urql with fetchSubscriptions', urql],
  ['graphql-sse', sse],
  ['Relay by graphql-sse', relay],
  ['curl', curl],
];

let waybill: Waybill;
let watching: Watching | undefined;
beforeEach(async () => {
  waybill = await startWaybill({ LIVE_INTERVAL_MS: '30', UPSTREAM_TIMEOUT_MS: '1500' });
});
afterEach(async () => {
  watching?.stop();
  await waybill[Symbol.asyncDispose]();
});

const outages: [what: string, fault: Fault][] = [
  ['REST has broken its connections', { kind: 'reset' }],
  ['REST has answered with HTTP 503', { kind: 'status', status: 503 }],
  ['REST has not answered', { kind: 'hang' }],
];

const patience = { timeout: 90_000 };
const seen = (): unknown[] => watching?.statuses ?? [];

describe.each(clients)('%s', (_name, start) => {
  test('sees a label appear', async () => {
    watching = start(waybill);
    await expect.poll(seen, patience).toEqual(['GENERATING_LABEL']);
    waybill.sandbox.clock.advance(8_000);
    await expect.poll(seen, patience).toEqual(['GENERATING_LABEL', 'LABEL_GENERATED']);
    expect(watching.end).toBeUndefined();
  });

  test.each(outages)('goes on after %s', async (_what, fault) => {
    watching = start(waybill);
    await expect.poll(seen, patience).toEqual(['GENERATING_LABEL']);
    const comeBack = waybill.sandbox.faults.add(fault);
    await expect.poll(() => seen().length, patience).toBe(2);
    // The outage lasts for more looks, which are no events.
    const calls = waybill.sandbox.requests.lines().length;
    await expect.poll(() => waybill.sandbox.requests.lines().length, patience).toBeGreaterThan(calls + 1);
    waybill.sandbox.clock.advance(8_000);
    comeBack();
    await expect.poll(() => seen().at(-1), patience).toBe('LABEL_GENERATED');
    expect(seen()).toEqual(['GENERATING_LABEL', undefined, 'LABEL_GENERATED']);
    expect(watching.end).toBeUndefined();
  });

  test('ends when REST rejects the token', async () => {
    watching = start(waybill);
    await expect.poll(seen, patience).toEqual(['GENERATING_LABEL']);
    waybill.sandbox.endToken(waybill.sandbox.tokens.first);
    await expect.poll(() => watching?.end, patience).toBe('completed');
    const calls = waybill.sandbox.requests.lines().length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(waybill.sandbox.requests.lines()).toHaveLength(calls);
  });
});
