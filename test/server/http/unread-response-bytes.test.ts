import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Owner } from '../../../src/concurrency/owner.ts';
import { UnreadBytes } from '../../../src/server/http/unread-response-bytes.ts';

const accepted = (name: string): Owner => ({ token: { name }, connection: undefined });
const [ana, eva, ida] = [accepted('ana'), accepted('eva'), accepted('ida')];
const stranger = (): Owner => ({ token: {}, connection: {} });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => vi.useRealTimers());

/** An account of 100 bytes, of which one token has 50 and unaccepted tokens 75, and the connections that it broke. */
function createAccount() {
  const cutOff: string[] = [];
  const onRoom = vi.fn();
  const unread = new UnreadBytes(100, onRoom);
  /** A connection, whose responses close with it. */
  const connect = (name: string) => {
    const socket = new Socket();
    const responses: ServerResponse[] = [];
    vi.spyOn(socket, 'destroy').mockImplementation(() => {
      cutOff.push(name);
      for (const response of responses) response.emit('close');
      return socket;
    });
    return {
      add(owner: Owner, bytes: number): ServerResponse {
        const response = new ServerResponse(new IncomingMessage(socket));
        responses.push(response);
        unread.add(owner, response, bytes);
        return response;
      },
    };
  };
  return { unread, connect, cutOff, onRoom };
}

test('only tokens that leave half of the allowed bytes unread must wait', () => {
  const { unread, connect, onRoom } = createAccount();
  const response = connect('ana').add(ana, 50);
  expect([unread.mayStart(ana), unread.mayStart(eva), unread.mayStart(stranger())]).toEqual([
    false,
    true,
    true,
  ]);
  response.emit('close');
  expect([unread.mayStart(ana), onRoom.mock.calls.length]).toEqual([true, 1]);
});

test('unaccepted tokens wait if together they leave three quarters of the limit unread', () => {
  const { unread, connect } = createAccount();
  connect('one').add(stranger(), 40);
  expect(unread.mayStart(stranger())).toBe(true);
  connect('other').add(stranger(), 40);
  expect([unread.mayStart(stranger()), unread.mayStart(ana)]).toEqual([false, true]);
});

test('only tokens above an equal share wait when the limit is reached', () => {
  const { unread, connect } = createAccount();
  connect('ana').add(ana, 49);
  connect('eva').add(eva, 49);
  connect('ida').add(ida, 10);
  expect([unread.mayStart(ana), unread.mayStart(eva), unread.mayStart(ida)]).toEqual([false, false, true]);
});

test('the connection with the most unread bytes is cut off a second after the limit', () => {
  const { connect, cutOff } = createAccount();
  const pipelined = connect('ana, two responses');
  pipelined.add(ana, 30);
  connect('eva').add(eva, 40);
  pipelined.add(ana, 30);
  vi.advanceTimersByTime(999);
  expect(cutOff).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(cutOff).toEqual(['ana, two responses']);
  // There is room again.
  vi.advanceTimersByTime(10_000);
  expect(cutOff).toEqual(['ana, two responses']);
});

test('no connection is cut off if a client reads within the second', () => {
  const { connect, cutOff } = createAccount();
  const response = connect('ana').add(ana, 60);
  connect('eva').add(eva, 60);
  vi.advanceTimersByTime(900);
  response.emit('close');
  vi.advanceTimersByTime(10_000);
  expect(cutOff).toEqual([]);
});

test('unaccepted tokens at their limit cost accepted tokens no connection', () => {
  const { connect, cutOff } = createAccount();
  connect('ana').add(ana, 20);
  for (const name of ['small', 'large']) connect(name).add(stranger(), name === 'small' ? 10 : 70);
  vi.advanceTimersByTime(1_000);
  expect(cutOff).toEqual(['large']);
});

test('connections are cut off one after the other until there is room', () => {
  const { connect, cutOff } = createAccount();
  for (const [index, owner] of [ana, eva, ida].entries()) connect(`${index}`).add(owner, 90 - index);
  vi.advanceTimersByTime(1_000);
  expect(cutOff).toEqual(['0']);
  vi.advanceTimersByTime(1_000);
  expect(cutOff).toEqual(['0', '1']);
});

test('each new response has a full second to be read', () => {
  const { connect, cutOff } = createAccount();
  connect('old').add(ana, 60);
  connect('other').add(eva, 45);
  vi.advanceTimersByTime(900);
  connect('new').add(ida, 200);
  vi.advanceTimersByTime(100);
  expect(cutOff).toEqual(['old']);
  vi.advanceTimersByTime(700);
  expect(cutOff).toEqual(['old', 'other']);
  vi.advanceTimersByTime(300);
  expect(cutOff).toEqual(['old', 'other', 'new']);
});

test('a client that takes a response in each second is not cut off', () => {
  const { connect, cutOff } = createAccount();
  connect('stands still').add(ana, 60);
  const reads = connect('reads');
  let response = reads.add(eva, 100);
  for (let second = 0; second < 5; second += 1) {
    vi.advanceTimersByTime(900);
    const next = reads.add(eva, 100);
    response.emit('close');
    response = next;
  }
  expect(cutOff).toEqual(['stands still']);
});

test('a response whose connection has closed adds no unread bytes', () => {
  const { unread } = createAccount();
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  Object.defineProperty(response, 'closed', { value: true });
  unread.add(ana, response, 1_000);
  expect(unread.mayStart(ana)).toBe(true);
});
