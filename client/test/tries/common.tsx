import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReactNode } from 'react';
import { prerender } from 'react-dom/static';
import type { Place } from '../../place.ts';
import { exampleInput } from '../example-input.ts';
import { session, waybillFetch } from '../session.ts';
import { withKey } from '../ship-order.ts';
import { IdempotencyKey } from '../waybill/idempotency-key.ts';
import { labelAddress } from '../waybill/open-label.ts';

const key = new IdempotencyKey();

export type Try = (place: Place) => Promise<void>;

/** The HTML of a component with all of its data. */
export async function htmlOf(element: ReactNode): Promise<string> {
  return new Response((await prerender(element)).prelude).text();
}

export async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (let count = 0; !isTrue(); count += 1) {
    assert(count < 1_000, `never happened: ${what}`);
    await sleep(20);
  }
}

/** Ends the token of an open stream, and waits until the stream has an event with the next token. */
export async function outliveToken(place: Place, count: () => number): Promise<void> {
  const [old, before] = [session.token(), count()];
  place.sandbox.endToken(old);
  await until(() => session.token() !== old, 'the refresh');
  await until(() => count() > before, 'an event after the refresh');
}

/** REST refuses the next calls to a path, with this status. */
export function refuse(place: Place, path: RegExp, status: number, times = 1): () => void {
  return place.sandbox.faults.add({ kind: 'status', path, status, times, headers: { 'retry-after': '0' } });
}

/** Tries of a live board. `watch` opens a board, and returns a function that closes the board. */
export function boardTries(watch: (onBoard: (orders: unknown) => void) => () => void): Record<string, Try> {
  return {
    async 'a board goes on after a refresh that fails'(place) {
      const boards: unknown[] = [];
      const stop = watch((orders) => boards.push(orders));
      await until(() => boards.length > 0, 'the first board');
      const before = place.refreshes();
      place.failRefresh();
      await outliveToken(place, () => boards.length);
      stop();
      assert.equal(place.refreshes(), before + 2);
      assert(boards.every(Boolean));
    },
    async 'a board opens when a full server has room again'(place) {
      const free = await place.takeAllStreams(session.token());
      const boards: unknown[] = [];
      place.seen();
      const stop = watch((orders) => boards.push(orders));
      await until(() => place.seen().length > 0, 'the refusal');
      free();
      await until(() => boards.length > 0, 'the board');
      stop();
      assert(boards.every(Boolean));
    },
  };
}

/** Tries that no client differs in. `count` sends the same query `count` times at once, and returns how many have data. */
export function sharedTries(count: (times: number) => Promise<number>): Record<string, Try> {
  return {
    async 'parallel requests share one refresh of the token'(place) {
      const old = session.token();
      place.sandbox.endToken(old);
      const before = place.refreshes();
      place.seen();
      assert.equal(await count(3), 3);
      assert.notEqual(session.token(), old);
      assert.equal(place.refreshes(), before + 1);
      assert.equal(place.seen().filter((line) => line === `200 ${session.token()}`).length, 3);
    },
    async 'a refusal by the rate limit is tried again'(place) {
      refuse(place, /orders/, 429);
      place.seen();
      assert.equal(await count(1), 1);
      assert.equal(place.seen().length, 2);
    },
    async 'a query without a response is tried again'(place) {
      place.failNext();
      assert.equal(await count(1), 1);
    },
    async 'a label opens'(place) {
      const label = await labelAddress(`${place.origin}/labels/ca2036.pdf`, waybillFetch);
      assert.match(label, /^blob:/);
      await assert.rejects(labelAddress(`${place.origin}/labels/gone.pdf`, waybillFetch), /./);
    },
    async 'a key stays with its input'() {
      const { idempotencyKey } = withKey(exampleInput, key);
      assert.equal(withKey({ ...exampleInput }, key).idempotencyKey, idempotencyKey);
      for (const __typename of ['OutcomeUnknown', 'Conflict', 'InvalidInput']) key.settle({ __typename });
      key.settle(null);
      assert.equal(withKey(exampleInput, key).idempotencyKey, idempotencyKey);
      assert.notEqual(withKey({ ...exampleInput, order: 'orders/ca1' }, key).idempotencyKey, idempotencyKey);
      for (const __typename of ['ShipOrderSuccess', 'NoOffer']) {
        const before = withKey(exampleInput, key).idempotencyKey;
        key.settle({ __typename });
        assert.notEqual(withKey(exampleInput, key).idempotencyKey, before);
      }
    },
  };
}
