import assert from 'node:assert/strict';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { ApolloProvider } from '@apollo/client/react';
import { Suspense } from 'react';
import { apollo } from '../apollo.ts';
import { Orders, ShipButton } from '../apollo-orders.tsx';
import { trusted } from '../apollo-trusted.ts';
import { boardSubscription, ordersQuery, shipOrderMutation } from '../documents.ts';
import { exampleInput } from '../example-input.ts';
import { url, waybillFetch } from '../session.ts';
import { toFormState, withKey } from '../ship-order.ts';
import { IdempotencyKey } from '../waybill/idempotency-key.ts';
import { htmlOf, outliveToken, sharedTries, type Try, until } from './common.tsx';

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
