import assert from 'node:assert/strict';
import { fetchQuery, requestSubscription } from 'relay-runtime';
import boardRequest from '../__generated__/relayOrdersBoardSubscription.graphql';
import pageRequest from '../__generated__/relayOrdersPageQuery.graphql';
import ordersRequest from '../__generated__/relayOrdersQuery.graphql';
import { environment } from '../relay.ts';
import { boardTries, type Try } from './common.tsx';

interface List {
  edges: { __refs: string[] };
}

const list = () =>
  environment
    .getStore()
    .getSource()
    .get('client:root:__relayOrders_orders_connection(status:[])') as unknown as List;

// The compiler without `persistConfig`: each request has its text, as a server without a list needs it.
export const tries: Record<string, Try> = {
  async 'a list loads by its text, and stays when the next page fails'(place) {
    await fetchQuery(environment, ordersRequest, { status: [] }).toPromise();
    assert.equal(list().edges.__refs.length, 10);
    const mend = place.sandbox.faults.add({ kind: 'status', path: /orders/, status: 404 });
    await assert.rejects(fetchQuery(environment, pageRequest, { status: [], first: 10 }).toPromise());
    mend();
    assert.equal(list().edges.__refs.length, 10);
  },
  ...boardTries((onBoard) => {
    const { dispose } = requestSubscription<{ response: { orders: unknown }; variables: object }>(
      environment,
      {
        subscription: boardRequest,
        variables: { status: [] },
        onNext: (board) => onBoard(board?.orders),
      },
    );
    return dispose;
  }),
};
