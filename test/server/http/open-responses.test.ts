import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Owner } from '../../../src/concurrency/owner.ts';
import { OpenResponses } from '../../../src/server/http/open-responses.ts';
import { acceptedOwner } from '../../fixtures/owner.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const merchant = acceptedOwner({ id: 'merchant', writes: 0 });
const anonymous: Owner = { token: undefined, connection: {} };
const unknown = (id: string): Owner => ({ token: { id }, connection: {} });

/** A response of which the client takes nothing. `disconnected` gets its name when its connection is closed. */
function stalled(name: string, bytes: number, disconnected: string[] = []) {
  const response = Object.assign(new EventEmitter(), {
    closed: false,
    writableEnded: false,
    writableLength: bytes,
    socket: {
      writableLength: bytes,
      destroy() {
        disconnected.push(name);
        response.emit('close');
      },
    },
  });
  return {
    // OpenResponses reads no other member.
    response: response as unknown as ServerResponse,
    end() {
      response.writableEnded = true;
    },
  };
}

const start = (requestsAtOnce = 100) => new OpenResponses(requestsAtOnce, 100, () => {});
const measure = () => vi.advanceTimersByTime(50);

test('a quarter of the unread-bytes budget is reserved for accepted tokens', () => {
  const openResponses = start();
  for (const name of ['a', 'b']) openResponses.watch(unknown(name), stalled(name, 38).response);
  measure();
  expect([unknown('c'), anonymous, merchant].map((owner) => openResponses.isOpenTo(owner))).toEqual([
    false,
    false,
    true,
  ]);
});

test('one token is limited to half of the unread-bytes budget', () => {
  const openResponses = start();
  openResponses.watch(merchant, stalled('', 50).response);
  measure();
  expect(
    [merchant, acceptedOwner({ id: 'b', writes: 0 })].map((owner) => openResponses.isOpenTo(owner)),
  ).toEqual([false, true]);
});

test('a slow client with an unaccepted token is disconnected at a lower limit', () => {
  const disconnected: string[] = [];
  const openResponses = start();
  openResponses.watch(merchant, stalled('merchant', 20, disconnected).response);
  openResponses.watch(anonymous, stalled('first', 40, disconnected).response);
  openResponses.watch(unknown('a'), stalled('second', 36, disconnected).response);
  vi.advanceTimersByTime(4_950);
  expect([openResponses.isOpenTo(anonymous), disconnected]).toEqual([false, []]);
  vi.advanceTimersByTime(20_000);
  expect([openResponses.isOpenTo(anonymous), disconnected]).toEqual([true, ['first']]);
});

test('the oldest slow clients are disconnected if unread bytes exceed the limit', () => {
  const disconnected: string[] = [];
  const openResponses = start();
  for (const [name, bytes] of [
    ['first', 10],
    ['second', 45],
    ['third', 45],
  ] as const)
    openResponses.watch(acceptedOwner({ id: name, writes: 0 }), stalled(name, bytes, disconnected).response);
  vi.advanceTimersByTime(5_000);
  expect(disconnected).toEqual([]);
  openResponses.watch(merchant, stalled('fourth', 20, disconnected).response);
  vi.advanceTimersByTime(100);
  expect(disconnected).toEqual(['first', 'second']);
});

test('a slot is freed when the response has ended, even if the client has not read it', () => {
  const openResponses = start(1);
  const first = stalled('first', 10);
  expect(openResponses.admit(merchant, first.response)).toBeUndefined();
  expect(openResponses.overloadError()?.code).toBe('OVERLOADED');
  first.end();
  measure();
  expect(openResponses.admit(merchant, stalled('second', 10).response)).toBeUndefined();
  // The close of the first one gives nothing back again.
  first.response.emit('close');
  expect(openResponses.overloadError()?.code).toBe('OVERLOADED');
});

test('a slot is freed when the connection closes before the response has ended', () => {
  const openResponses = start(1);
  const { response } = stalled('', 0);
  openResponses.admit(merchant, response);
  response.emit('close');
  expect(openResponses.overloadError()).toBeUndefined();
});

test('a request takes no slot if its response closes before the admission', () => {
  const openResponses = start(1);
  const { response } = stalled('', 0);
  Object.assign(response, { closed: true });
  expect(openResponses.admit(merchant, response)).toBeUndefined();
  expect(openResponses.overloadError()).toBeUndefined();
});

test('a quarter of the request slots is reserved for accepted tokens', () => {
  const openResponses = start(4);
  const admit = (owner: Owner) => openResponses.admit(owner, stalled('', 0).response)?.message;
  expect(['a', 'b', 'c', 'd'].map((id) => admit(unknown(id)))).toEqual([
    undefined,
    undefined,
    undefined,
    'The server is at its limit of GraphQL requests for tokens that the REST service has not accepted yet. Retry later.',
  ]);
  expect(admit(merchant)).toBeUndefined();
});
