import assert from 'node:assert/strict';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { Suspense } from 'react';
import { apollo } from '../apollo.ts';
import { Orders, ShipButton } from '../apollo-orders.tsx';
import { trusted } from '../apollo-trusted.ts';
import { boardSubscription, ordersQuery, shipOrderMutation } from '../documents.ts';
import { exampleInput } from '../example-input.ts';
import { session, url, waybillFetch } from '../session.ts';
import { toFormState, withKey } from '../ship-order.ts';
import { createLiveLink } from '../waybill/apollo-live-link.ts';
import { typePolicies } from '../waybill/apollo-type-policies.generated.ts';
import { IdempotencyKey } from '../waybill/idempotency-key.ts';
import { createSession, SignedOut } from '../waybill/session.ts';
import { createWaybillFetch } from '../waybill/waybill-fetch.ts';
import { boardTries, htmlOf, outliveToken, refuse, sharedTries, type Try, until } from './common.tsx';

const key = new IdempotencyKey();

const inCache = (variables = {}) => apollo.readQuery({ query: ordersQuery, variables });

export const tries: Record<string, Try> = {
  async 'a list pages, and its component shows it'() {
    const watched = apollo.watchQuery({ query: ordersQuery, variables: { status: [] } });
    const { data } = await apollo.query({ query: ordersQuery, variables: { status: [] } });
    assert.equal(data?.orders?.edges.length, 10);
    const subscription = watched.subscribe({});
    await watched.fetchMore({ variables: { after: data?.orders?.pageInfo.endCursor } });
    subscription.unsubscribe();
    assert.equal(inCache({ status: [] })?.orders?.edges.length, 20);
    const html = await htmlOf(
      <ApolloProvider client={apollo}>
        <Suspense>
          <Orders status={[]} />
          <ShipButton input={exampleInput} />
        </Suspense>
      </ApolloProvider>,
    );
    assert.equal(html.match(/<li>/g)?.length, 20);
    assert.match(html, />More</);
    assert.match(html, />Ship</);
  },
  async 'a filter is a list of its own'() {
    const { data } = await apollo.query({ query: ordersQuery, variables: { status: ['NEW'] } });
    assert(Number(data?.orders?.edges.length) > 0);
    assert(data?.orders?.edges.every(({ node }) => node?.status === 'NEW'));
    assert.equal(inCache({ status: [] })?.orders?.edges.length, 20);
  },
  async 'a first page that fails is no empty list'(place) {
    // Without codegen, no selection asks for the `__typename` that an empty list of Apollo lacks.
    const query = gql`query { orders(first: 10) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }`;
    const client = new ApolloClient({
      link: new HttpLink({ uri: url, fetch: waybillFetch }),
      cache: new InMemoryCache({ typePolicies }),
      defaultOptions: { watchQuery: { errorPolicy: 'all' }, query: { errorPolicy: 'all' } },
    });
    refuse(place, /orders/, 404, 2);
    for (const _component of ['one', 'another']) {
      place.seen();
      const { data, error } = await client.query({ query });
      assert.deepEqual([data, Boolean(error)], [{ orders: null }, true]);
      assert.equal(place.seen().length, 1);
    }
    const first = await client.query({ query });
    assert.equal(first.data?.orders?.edges.length, 10);
    refuse(place, /orders/, 404);
    const failed = await client.query({ query, fetchPolicy: 'network-only' });
    assert.deepEqual([failed.data, Boolean(failed.error)], [first.data, true]);
    assert.deepEqual((await client.query({ query })).data, first.data);
  },
  async 'a partial answer has its data and its error'(place) {
    const mend = place.sandbox.faults.add({ kind: 'status', path: /shipments/, status: 503 });
    const { data, error } = await apollo.query({
      query: ordersQuery,
      variables: { status: [] },
      fetchPolicy: 'network-only',
    });
    mend();
    assert.equal(data?.orders?.edges.length, 10);
    assert(error);
  },
  async 'a form shows its faults, and ships once'() {
    const wrong = { ...exampleInput, package: { ...exampleInput.package, weightKg: -1 } };
    const { data } = await apollo.mutate({
      mutation: shipOrderMutation,
      variables: { input: withKey(wrong, key) },
    });
    assert.deepEqual(Object.keys(toFormState(data?.shipOrder).faults), ['package.weightKg']);
    const input = withKey(exampleInput, key);
    const ship = () => apollo.mutate({ mutation: shipOrderMutation, variables: { input } });
    const [first, second] = [await ship(), await ship()];
    assert.equal(first.data?.shipOrder?.__typename, 'ShipOrderSuccess');
    assert.deepEqual(second.data, first.data);
    assert.match(toFormState(first.data?.shipOrder).message, /^Shipped: shipments\//);
  },
  ...sharedTries(async (times) => {
    const ask = () =>
      apollo.query({
        query: ordersQuery,
        variables: { status: [] },
        fetchPolicy: 'no-cache',
        context: { queryDeduplication: false },
      });
    const answers = await Promise.all(Array.from({ length: times }, ask));
    return answers.filter(({ data, error }) => data?.orders && !error).length;
  }),
  async 'a board is live, also after its token has ended'(place) {
    const boards: unknown[] = [];
    const subscription = apollo
      .subscribe({ query: boardSubscription, variables: { status: [] } })
      .subscribe(({ data }) => boards.push(data?.orders));
    await until(() => boards.length === 1, 'the first board');
    place.sandbox.clock.advance(3_600_000);
    await until(() => boards.length >= 2, 'a change');
    await outliveToken(place, () => boards.length);
    assert(boards.every(Boolean));
    subscription.unsubscribe();
  },
  ...boardTries((onBoard) => {
    const subscription = apollo
      .subscribe({ query: boardSubscription, variables: { status: [] } })
      .subscribe(({ data }) => onBoard(data?.orders));
    return () => subscription.unsubscribe();
  }),
  async 'a board ends when its user has signed out'(place) {
    const token = session.token();
    const signedOut = createSession(token, async () => {
      throw new SignedOut();
    });
    const fetch = createWaybillFetch(signedOut);
    const client = new ApolloClient({
      link: ApolloLink.from([createLiveLink(signedOut), new HttpLink({ uri: url, fetch })]),
      cache: new InMemoryCache(),
    });
    const seen: unknown[] = [];
    client
      .subscribe({ query: boardSubscription, variables: { status: [] } })
      .subscribe(({ data, error }) => seen.push(error ?? data?.orders));
    await until(() => seen.length > 0, 'the first board');
    place.sandbox.endToken(token);
    await until(() => seen.at(-1) instanceof SignedOut, 'the end');
  },
  async 'a trusted document is sent by its hash'(place) {
    place.trustOnly(true);
    const link = ApolloLink.from([trusted, new HttpLink({ uri: url, fetch: waybillFetch })]);
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const { data } = await client.query({ query: ordersQuery, variables: { status: [] } });
    const boards: unknown[] = [];
    const subscription = client
      .subscribe({ query: boardSubscription, variables: { status: [] } })
      .subscribe((board) => boards.push(board.data?.orders));
    await until(() => boards.length > 0, 'the board of a trusted document');
    subscription.unsubscribe();
    assert(boards.every(Boolean));
    place.trustOnly(false);
    assert.equal(data?.orders?.edges.length, 10);
  },
};
