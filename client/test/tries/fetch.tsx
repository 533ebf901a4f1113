import assert from 'node:assert/strict';
import { print } from 'graphql';
import { boardSubscription, ordersQuery, shipOrderMutation } from '../documents.ts';
import { exampleInput } from '../example-input.ts';
import { orderPages, watchBoard } from '../fetch-orders.ts';
import type { BoardSubscription } from '../gql/graphql';
import { hashOf } from '../hashes.ts';
import { request, requestTrusted } from '../request.ts';
import { session, url } from '../session.ts';
import { toFormState, withKey } from '../ship-order.ts';
import { IdempotencyKey } from '../waybill/idempotency-key.ts';
import { createWatch } from '../waybill/live-sse.ts';
import { createSession, SignedOut } from '../waybill/session.ts';
import { boardTries, outliveToken, sharedTries, type Try, until } from './common.tsx';

const key = new IdempotencyKey();

export const tries: Record<string, Try> = {
  async 'a page of the listed origin may call the server'() {
    const preflight = { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' };
    const { headers } = await fetch(url, { method: 'OPTIONS', headers: preflight });
    assert.equal(headers.get('access-control-allow-origin'), 'http://localhost:5173');
  },
  async 'a list pages, with a filter'() {
    const ids = new Set<string | undefined>();
    let count = 0;
    for await (const { data } of orderPages(['DELIVERED'])) {
      for (const { node } of data?.orders?.edges ?? []) ids.add(node?.id);
      count += 1;
      if (count === 3) break;
    }
    assert.equal(ids.size, 30);
  },
  async 'a partial answer has its data and its errors'(place) {
    const mend = place.sandbox.faults.add({ kind: 'status', path: /shipments/, status: 503 });
    const { data, errors } = await request(ordersQuery, { status: ['IN_PROGRESS'] });
    mend();
    assert.equal(data?.orders?.edges.length, 10);
    assert(errors?.length);
  },
  async 'a form shows its faults, and ships once, also after a lost response'(place) {
    const wrong = { ...exampleInput, package: { ...exampleInput.package, weightKg: -1 } };
    const { data } = await request(shipOrderMutation, { input: withKey(wrong, key) });
    assert.deepEqual(Object.keys(toFormState(data?.shipOrder).faults), ['package.weightKg']);
    const input = withKey(exampleInput, key);
    place.failNext();
    const [first, second] = [
      await request(shipOrderMutation, { input }),
      await request(shipOrderMutation, { input }),
    ];
    assert.equal(first.data?.shipOrder?.__typename, 'ShipOrderSuccess');
    assert.deepEqual(second.data, first.data);
  },
  async 'a mutation without a key is not sent again after a lost response'(place) {
    place.failNext();
    await assert.rejects(request(shipOrderMutation, { input: exampleInput }), /fetch failed/);
  },
  async 'a board is live, and goes on with a new token'(place) {
    const boards: unknown[] = [];
    const stop = watchBoard([], (board) => boards.push(board?.orders));
    await until(() => boards.length === 1, 'the first board');
    await outliveToken(place, () => boards.length);
    assert(boards.every(Boolean));
    stop();
  },
  ...boardTries((onBoard) => watchBoard([], (board) => onBoard(board?.orders))),
  async 'a board ends when its user has signed out'(place) {
    const token = session.token();
    const signedOut = createSession(token, async () => {
      throw new SignedOut();
    });
    const seen: unknown[] = [];
    createWatch(url, signedOut)<BoardSubscription>(
      { query: print(boardSubscription), variables: { status: [] } },
      { next: ({ data }) => seen.push(data?.orders), error: (error) => seen.push(error), complete: () => {} },
    );
    await until(() => seen.length > 0, 'the first board');
    place.sandbox.endToken(token);
    await until(() => seen.at(-1) instanceof SignedOut, 'the end');
  },
  async 'a trusted document is sent by its hash'(place) {
    place.trustOnly(true);
    const boards: unknown[] = [];
    // The type of a request has no `documentId`.
    const board = { documentId: hashOf(boardSubscription), variables: { status: [] } } as unknown as {
      query: string;
    };
    const stop = createWatch(url, session)<BoardSubscription>(board, {
      next: ({ data }) => boards.push(data?.orders),
      error: (error) => boards.push(error),
      complete: () => {},
    });
    await until(() => boards.length > 0, 'the board of a trusted document');
    stop();
    assert.match(JSON.stringify(boards[0]), /orders\//);
    const { data } = await requestTrusted(ordersQuery, { status: [] });
    assert.equal((await request(ordersQuery, { status: [], after: 'x' })).errors?.length, 1);
    place.trustOnly(false);
    assert.equal(data?.orders?.edges.length, 10);
  },
  ...sharedTries(async (times) => {
    const answers = await Promise.all(
      Array.from({ length: times }, () => request(ordersQuery, { status: [] })),
    );
    return answers.filter(({ data, errors }) => data?.orders && !errors).length;
  }),
};
