import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OpenResponses, schemaReader } from '../../../src/server/http/open-responses.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A response of which the client takes nothing. `disconnected` gets its name when its connection is closed. */
function stalled(name: string, bytes: number, disconnected: string[]): ServerResponse {
  const response = Object.assign(new EventEmitter(), {
    closed: false,
    writableLength: bytes,
    socket: {
      writableLength: bytes,
      destroy() {
        disconnected.push(name);
        response.emit('close');
      },
    },
  });
  // OpenResponses reads no other member.
  return response as unknown as ServerResponse;
}

test('clients that read no schema lose their connections after 5 seconds, and no client with a token does', () => {
  const disconnected: string[] = [];
  const openResponses = new OpenResponses(100, () => {});
  const merchant = { id: 'merchant', writes: 0 };
  openResponses.watch(merchant, stalled('orders', 49, disconnected));
  openResponses.watch(schemaReader, stalled('first schema', 20, disconnected));
  openResponses.watch(schemaReader, stalled('second schema', 30, disconnected));
  vi.advanceTimersByTime(4_950);
  expect(openResponses.isBelowShare(schemaReader)).toBe(false);
  expect(openResponses.isBelowShare(merchant)).toBe(true);
  expect(disconnected).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(disconnected).toEqual(['first schema']);
  expect(openResponses.isBelowShare(schemaReader)).toBe(true);
  vi.advanceTimersByTime(20_000);
  expect(disconnected).toEqual(['first schema']);
});

test('beyond the budget, each token with unread bytes has an equal share', () => {
  const openResponses = new OpenResponses(100, () => {});
  const tenants = ['a', 'b', 'c', 'd'].map((id) => ({ id, writes: 0 }));
  const isBelowShare = () => tenants.map((tenant) => openResponses.isBelowShare(tenant));
  for (const [index, bytes] of [49, 30, 20].entries()) {
    openResponses.watch(tenants[index] ?? schemaReader, stalled('', bytes, []));
  }
  vi.advanceTimersByTime(50);
  expect(isBelowShare()).toEqual([true, true, true, true]);
  openResponses.watch(schemaReader, stalled('', 1, []));
  vi.advanceTimersByTime(50);
  expect(isBelowShare()).toEqual([false, false, true, true]);
});

test('beyond the budget, the oldest clients that take nothing lose their connections, whoever they are', () => {
  const disconnected: string[] = [];
  const openResponses = new OpenResponses(100, () => {});
  for (const [index, name] of ['first', 'second', 'third'].entries()) {
    openResponses.watch({ id: name, writes: 0 }, stalled(name, index === 0 ? 10 : 45, disconnected));
  }
  vi.advanceTimersByTime(5_000);
  expect(disconnected).toEqual([]);
  openResponses.watch({ id: 'fourth', writes: 0 }, stalled('fourth', 20, disconnected));
  vi.advanceTimersByTime(100);
  expect(disconnected).toEqual(['first', 'second']);
});
