import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { createClient, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { parse } from 'graphql';
import {
  createOperationDescriptor,
  Environment,
  fetchQuery,
  Network,
  RecordSource,
  Store,
} from 'relay-runtime';
import { expect, test } from 'vitest';
import { startApp } from '../../fixtures/start-app.ts';
import stuckShipmentsRequest from '../relay/__generated__/documentsStuckShipmentsQuery.graphql.ts';

// Pagination of three clients over a filtered list whose only match is further down than one operation may read.

interface Stuck {
  shipments: {
    edges: { node: { id: string } }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
}

const headers = { authorization: 'Bearer token' };
const only = ['shipments/24990'];
const query = `query Stuck($after: String) {
  shipments(first: 5, after: $after, status: [WITH_ERROR]) {
    edges { node { id } cursor }
    pageInfo { hasNextPage endCursor }
  }
}`;
const ids = ({ shipments }: Stuck) => shipments.edges.map(({ node }) => node.id);

/** Reads on while a client has a next page. @returns the ids on the first page, and all of them. */
async function readAll(
  app: { calls(): string[] },
  first: Stuck,
  readMore: (after: string | null) => Promise<Stuck>,
) {
  const atFirst = ids(first);
  let data = first;
  for (let count = 0; data.shipments.pageInfo.hasNextPage && count < 5; count += 1) {
    data = await readMore(data.shipments.pageInfo.endCursor);
  }
  return { atFirst, inAll: ids(data), calls: app.calls().length };
}

/** 25,000 shipments, and a function that fetches from the application in front of them. */
async function start() {
  const waybill = await startApp((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://rest.test');
    const start = Number(searchParams.get('pageToken') ?? 0);
    const end = Math.min(25_000, start + Number(searchParams.get('pageSize')));
    const shipments = Array.from({ length: end - start }, (_, index) => {
      const name = `shipments/${start + index}`;
      return { name, status: only.includes(name) ? 'WITH_ERROR' : 'DELIVERED' };
    });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ shipments, nextPageToken: end < 25_000 ? String(end) : '' }));
  });
  return waybill;
}

/** 20 pages for the first operation, and seven for the second one. */
const expected = { atFirst: [], inAll: only, calls: 27 };

test("Relay's pagination finds a match after an empty page", async () => {
  await using app = await start();
  const url = new URL('/graphql', app.url).href;
  const environment = new Environment({
    network: Network.create(async ({ text }, variables) => {
      const body = JSON.stringify({ query: text, variables });
      const type = { 'content-type': 'application/json' };
      return (await fetch(url, { method: 'POST', headers: { ...headers, ...type }, body })).json();
    }),
    store: new Store(new RecordSource()),
  });
  const operation = createOperationDescriptor(stuckShipmentsRequest, {});
  environment.retain(operation);
  const read = async (after: string | null) => {
    await fetchQuery(environment, stuckShipmentsRequest, after === null ? {} : { after }).toPromise();
    // The connection of the store has the type that the document selects.
    return environment.lookup(operation.fragment).data as unknown as Stuck;
  };
  expect(await readAll(app, await read(null), read)).toEqual(expected);
});

test("Apollo Client's relayStylePagination finds a match after an empty page", async () => {
  await using app = await start();
  const url = new URL('/graphql', app.url).href;
  const client = new ApolloClient({
    cache: new InMemoryCache({
      typePolicies: { Query: { fields: { shipments: relayStylePagination(['status']) } } },
    }),
    link: new HttpLink({ uri: url, headers }),
  });
  const document = parse(query);
  const watched = client.watchQuery<Stuck>({ query: document });
  const subscription = watched.subscribe({});
  const inCache = () => {
    const data = client.readQuery<Stuck>({ query: document });
    if (data === null) throw new Error('expected the list in the cache');
    return data;
  };
  await client.query({ query: document });
  const all = await readAll(app, inCache(), async (after) => {
    await watched.fetchMore({ variables: { after } });
    return inCache();
  });
  subscription.unsubscribe();
  client.stop();
  expect(all).toEqual(expected);
});

test("urql's relayPagination finds a match after an empty page", async () => {
  await using app = await start();
  const url = new URL('/graphql', app.url).href;
  const client = createClient({
    url,
    fetchOptions: { headers },
    preferGetMethod: false,
    exchanges: [cacheExchange({ resolvers: { Query: { shipments: relayPagination() } } }), fetchExchange],
  });
  const read = async (after: string | null) => {
    const { data, error } = await client.query<Stuck>(query, after === null ? {} : { after }).toPromise();
    if (data === undefined) throw error ?? new Error('expected a list');
    return data;
  };
  expect(await readAll(app, await read(null), read)).toEqual(expected);
});
