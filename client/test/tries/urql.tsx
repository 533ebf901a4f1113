import assert from 'node:assert/strict';
import { Client, fetchExchange, gql, Provider } from 'urql';
import { boardSubscription, ordersQuery, shipOrderMutation } from '../documents.ts';
import { exampleInput } from '../example-input.ts';
import { url, waybillFetch } from '../session.ts';
import { toFormState, withKey } from '../ship-order.ts';
import { urql } from '../urql.ts';
import { Orders, ShipButton } from '../urql-orders.tsx';
import { trusted } from '../urql-trusted.ts';
import { IdempotencyKey } from '../waybill/idempotency-key.ts';
import { boardTries, htmlOf, outliveToken, refuse, sharedTries, type Try, until } from './common.tsx';

const key = new IdempotencyKey();

const read = (
  variables: Parameters<typeof urql.query<unknown, { status?: [] | 'NEW'[]; after?: string | null }>>[1],
) => urql.query(ordersQuery, variables as object).toPromise();

export const tries: Record<string, Try> = {
  async 'a list pages, and its component shows it'() {
    const warnings: unknown[] = [];
    console.warn = (...warning) => void warnings.push(warning);
    const { data } = await read({ status: [] });
    assert.equal(data?.orders?.edges.length, 10);
    const next = await read({ status: [], after: data?.orders?.pageInfo.endCursor ?? null });
    assert.equal(next.data?.orders?.edges.length, 20);
    const html = await htmlOf(
      <Provider value={urql}>
        <Orders status={[]} />
        <ShipButton input={exampleInput} />
      </Provider>,
    );
    assert.match(html, /<li>/);
    assert.match(html, />Ship</);
    assert.deepEqual(warnings, []);
  },
  async 'a filter is a list of its own'() {
    const { data } = await read({ status: ['NEW'] });
    assert(Number(data?.orders?.edges.length) > 0);
    assert(data?.orders?.edges.every(({ node }) => node?.status === 'NEW'));
  },
  async 'a list without arguments has its rows'() {
    const { data, error } = await urql
      .query<{ channels: { nodes: object[] } }>(gql`query { channels { nodes { id } } }`, {})
      .toPromise();
    assert.equal(error, undefined);
    assert(Number(data?.channels.nodes.length) > 0);
  },
  async 'a first page that fails is no empty list'(place) {
    refuse(place, /orders/, 404, 2);
    for (const _component of ['one', 'another']) {
      place.seen();
      const { data, error } = await read({ status: ['DELIVERED'] as never });
      assert.deepEqual([data, Boolean(error)], [null, true]);
      assert.equal(place.seen().length, 1);
    }
    assert.equal((await read({ status: ['DELIVERED'] as never })).data?.orders?.edges.length, 10);
  },
  async 'a partial answer has its data and its error'(place) {
    const mend = place.sandbox.faults.add({ kind: 'status', path: /shipments/, status: 503 });
    const { data, error } = await urql
      .query(ordersQuery, { status: ['IN_PROGRESS'] }, { requestPolicy: 'network-only' })
      .toPromise();
    mend();
    assert.equal(data?.orders?.edges.length, 10);
    assert(error);
  },
  async 'a form shows its faults, and ships once'() {
    const wrong = { ...exampleInput, package: { ...exampleInput.package, weightKg: -1 } };
    const { data } = await urql.mutation(shipOrderMutation, { input: withKey(wrong, key) }).toPromise();
    assert.deepEqual(Object.keys(toFormState(data?.shipOrder).faults), ['package.weightKg']);
    const input = withKey(exampleInput, key);
    const ship = () => urql.mutation(shipOrderMutation, { input }).toPromise();
    const [first, second] = [await ship(), await ship()];
    assert.equal(first.data?.shipOrder?.__typename, 'ShipOrderSuccess');
    assert.deepEqual(second.data, first.data);
  },
  ...sharedTries(async (times) => {
    // Another variable for each: urql shares a request that is the same.
    const ask = (_: unknown, index: number) =>
      urql
        .query(
          ordersQuery,
          { status: (['NEW', 'CONFIRMED', 'READY'] as const).slice(0, index + 1) },
          { requestPolicy: 'network-only' },
        )
        .toPromise();
    const answers = await Promise.all(Array.from({ length: times }, ask));
    return answers.filter(({ data, error }) => data?.orders && !error).length;
  }),
  async 'a board is live, also after its token has ended'(place) {
    const boards: unknown[] = [];
    const { unsubscribe } = urql
      .subscription(boardSubscription, { status: [] })
      .subscribe(({ data }) => boards.push(data?.orders));
    await until(() => boards.length === 1, 'the first board');
    place.sandbox.clock.advance(3_600_000);
    await until(() => boards.length >= 2, 'a change');
    await outliveToken(place, () => boards.length);
    assert(boards.every(Boolean));
    unsubscribe();
  },
  ...boardTries((onBoard) => {
    const { unsubscribe } = urql
      .subscription(boardSubscription, { status: [] })
      .subscribe(({ data }) => onBoard(data?.orders));
    return unsubscribe;
  }),
  async 'a trusted document is sent by its hash'(place) {
    place.trustOnly(true);
    const client = new Client({
      url,
      fetch: waybillFetch,
      preferGetMethod: false,
      exchanges: [trusted, fetchExchange],
    });
    const { data, error } = await client.query(ordersQuery, { status: [] }).toPromise();
    place.trustOnly(false);
    assert.equal(error, undefined);
    assert.equal(data?.orders?.edges.length, 10);
  },
};
