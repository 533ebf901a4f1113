import assert from 'node:assert/strict';
import { Suspense } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { commitMutation, createOperationDescriptor, fetchQuery, requestSubscription } from 'relay-runtime';
import boardRequest from '../__generated__/relayOrdersBoardSubscription.graphql';
import pageRequest from '../__generated__/relayOrdersPageQuery.graphql';
import ordersRequest from '../__generated__/relayOrdersQuery.graphql';
import shipRequest from '../__generated__/relayOrdersShipMutation.graphql';
import { exampleInput } from '../example-input.ts';
import { environment } from '../relay.ts';
import { Orders, ShipButton } from '../relay-orders.tsx';
import { withKey } from '../ship-order.ts';
import { IdempotencyKey } from '../waybill/idempotency-key.ts';
import { htmlOf, outliveToken, sharedTries, type Try, until } from './common.tsx';

const key = new IdempotencyKey();

/** A connection as Relay's store has it. */
interface List {
  edges: { __refs: string[] };
  pageInfo: { __ref: string };
}

interface Shipped {
  response: { shipOrder: { __typename: string; fields?: { path: string }[] } };
  variables: { input: object };
}

const ship = (input: object): Promise<Shipped['response']> =>
  new Promise((onCompleted, onError) =>
    commitMutation<Shipped>(environment, {
      mutation: shipRequest,
      variables: { input },
      onCompleted,
      onError,
    }),
  );

const page = (variables: object) => fetchQuery<never>(environment, pageRequest, variables).toPromise();

// The operations.json of the build is the list of the server that takes no other documents.
export const tries: Record<string, Try> = {
  async 'a list pages by trusted documents, and its component shows it'(place) {
    place.trustOnly(true);
    const operation = createOperationDescriptor(ordersRequest, { status: [] });
    environment.retain(operation);
    const html = await htmlOf(
      <RelayEnvironmentProvider environment={environment}>
        <Suspense>
          <Orders status={[]} />
          <ShipButton input={exampleInput} />
        </Suspense>
      </RelayEnvironmentProvider>,
    );
    assert.equal(html.match(/<li>/g)?.length, 10);
    assert.match(html, />More</);
    assert.match(html, />Ship</);
    const source = environment.getStore().getSource();
    const list = source.get('client:root:__relayOrders_orders_connection(status:[])') as unknown as List;
    const info = source.get(list.pageInfo.__ref);
    assert.equal(info?.hasNextPage, true);
    await page({ status: [], first: 10, after: info?.endCursor });
    const grown = source.get('client:root:__relayOrders_orders_connection(status:[])') as unknown as List;
    assert.equal(grown.edges.__refs.length, 20);
  },
  async 'a form shows its faults, and ships once'() {
    const wrong = { ...exampleInput, package: { ...exampleInput.package, weightKg: -1 } };
    const { shipOrder } = await ship(withKey(wrong, key));
    assert.deepEqual(
      shipOrder.fields?.map(({ path }) => path),
      ['package.weightKg'],
    );
    const input = withKey(exampleInput, key);
    const [first, second] = [await ship(input), await ship(input)];
    assert.equal(first.shipOrder.__typename, 'ShipOrderSuccess');
    assert.deepEqual(second, first);
  },
  ...sharedTries(async (times) => {
    const ask = (_: unknown, index: number) =>
      page({ status: ['NEW', 'CONFIRMED', 'READY'].slice(0, index + 1) });
    return (await Promise.all(Array.from({ length: times }, ask))).filter(Boolean).length;
  }),
  // Nothing tells a query by its id from a mutation without a key.
  async 'a query without a response is tried again'(place) {
    place.failNext();
    await assert.rejects(page({ status: ['READY'] }), /fetch failed/);
  },
  async 'a board is live, also after its token has ended'(place) {
    const boards: unknown[] = [];
    const { dispose } = requestSubscription<{ response: { orders: unknown }; variables: object }>(
      environment,
      {
        subscription: boardRequest,
        variables: { status: [] },
        onNext: (board) => boards.push(board?.orders),
      },
    );
    await until(() => boards.length === 1, 'the first board');
    place.sandbox.clock.advance(3_600_000);
    await until(() => boards.length >= 2, 'a change');
    await outliveToken(place, () => boards.length);
    assert(boards.every(Boolean));
    dispose();
    place.trustOnly(false);
  },
};
