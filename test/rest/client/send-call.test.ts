import { setTimeout as pause } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { describe, expect, test } from 'vitest';
import { CancelSource } from '../../../src/concurrency/cancellation.ts';
import { TimeoutQueue } from '../../../src/concurrency/timeout-queue.ts';
import type { RestCall } from '../../../src/rest/call.ts';
import type { CallContext } from '../../../src/rest/client/call-context.ts';
import { sendCall } from '../../../src/rest/client/client.ts';
import { AbortedError, CircuitOpenError, OutcomeUnknownError } from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { createClientState } from '../../fixtures/client-state.ts';
import {
  answerAsPromised,
  answerJson,
  bearer,
  errorOf,
  startHolding,
  startRestClient,
  startService,
  until,
} from '../../fixtures/rest-service.ts';

const read: RestCall = { method: 'GET', path: '/v1/orders/7' };
const write: RestCall = { method: 'POST', path: '/v1/orders', body: {} };
const retriesOf = ({ callLog }: CallContext) => callLog.entries.map(({ retries }) => retries);

describe('the calls of an aborted operation', () => {
  test('are not sent or logged if they wait for a slot', async () => {
    await using rest = await startHolding();
    const callContexts = createCallContexts({ callsAtOnce: 1 });
    const controller = new AbortController();
    const callContext = callContexts.of('ana', controller.signal);
    const other = rest.api.getOrder('1', callContexts.of('eva', new AbortController().signal));
    const waiting = [
      rest.api.getOrder('7', callContext),
      rest.api.updateOrder('7', { order: { notes: 'a' }, updateMask: ['notes'] }, callContext),
    ].map(errorOf);
    expect(callContexts.callsWaiting()).toBe(2);
    controller.abort();
    for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(AbortedError);
    expect(callContexts.callsWaiting()).toBe(0);
    await until(() => rest.held.length === 1);
    rest.give({ name: 'orders/1' });
    expect(await other).toEqual({ name: 'orders/1' });
    expect(await errorOf(rest.api.getOrder('8', callContext))).toBeInstanceOf(AbortedError);
    expect([rest.service.lines(), callContext.callLog.entries]).toEqual([['GET /v1/orders/1'], []]);
  });

  test('free their slots for other operations', async () => {
    await using rest = await startHolding();
    // A token that REST has not accepted has two of three slots.
    const callContexts = createCallContexts({ callsAtOnce: 3 });
    const controller = new AbortController();
    const callContext = callContexts.of('ana', controller.signal);
    const ended = ['1', '2', '3'].map((id) => errorOf(rest.api.getOrder(id, callContext)));
    const other = rest.api.getOrder('7', callContexts.of('ana', new AbortController().signal));
    await until(() => rest.held.length === 2);
    controller.abort();
    for (const error of await Promise.all(ended)) expect(error).toBeInstanceOf(AbortedError);
    await until(() => rest.held.length === 3);
    rest.held.at(-1)?.end(JSON.stringify({ name: 'orders/7' }));
    expect(await other).toEqual({ name: 'orders/7' });
    expect(rest.service.lines().sort()).toEqual(['1', '2', '7'].map((id) => `GET /v1/orders/${id}`));
  });
});

describe('a read that waits for a retry', () => {
  test('is not retried if the operation is aborted during the pause', async () => {
    const controller = new AbortController();
    await using rest = await startRestClient(
      (request, response, body) => {
        answerJson({}, 503)(request, response, body);
        response.on('finish', () => setTimeout(() => controller.abort(), 1));
      },
      { retries: 2 },
    );
    const error = await errorOf(rest.api.getOrder('7', rest.callContext(controller.signal)));
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.message).toBe('GET /v1/orders/7 was aborted');
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7']);
  });

  test('fails if the circuit breaker is open after the pause', async () => {
    await using rest = await startRestClient(
      (request, response, body) =>
        answerJson({}, request.url === '/v1/orders/7' ? 503 : 500)(request, response, body),
      { retries: 2, circuitBreaker: { minCalls: 3 } },
    );
    const callContexts = createCallContexts({ callsAtOnce: 1 });
    const { signal } = new AbortController();
    const callContext = callContexts.of('ana', signal);
    const failed = errorOf(rest.api.getOrder('7', callContext));
    // These reads get the slot before the retry.
    const others = ['eva', 'ida'].map((who) => errorOf(rest.api.getOrder(who, callContexts.of(who, signal))));
    const error = await failed;
    await Promise.all(others);
    expect(error).toBeInstanceOf(CircuitOpenError);
    expect(rest.client.openCircuits()).toEqual(['GET /v1/orders/{id}']);
    expect(rest.service.lines().sort()).toEqual([
      'GET /v1/orders/7',
      'GET /v1/orders/eva',
      'GET /v1/orders/ida',
    ]);
    expect(retriesOf(callContext)).toEqual([0]);
  });

  test('frees its slot for other calls', async () => {
    await using rest = await startRestClient(
      (request, response, body) => {
        const isFirst = rest.service.requests.length === 1;
        return isFirst
          ? answerJson({}, 503)(request, response, body)
          : answerAsPromised(request, response, body);
      },
      { retries: 1 },
    );
    const callContext = rest.callContext(undefined, 1);
    const orders = ['7', '8'].map((id) => rest.api.getOrder(id, callContext));
    expect(await Promise.all(orders)).toEqual([{ name: 'orders/7' }, { name: 'orders/8' }]);
    expect(rest.service.lines()).toEqual(['7', '8', '7'].map((id) => `GET /v1/orders/${id}`));
    expect(retriesOf(callContext)).toEqual([1, 0]);
  });
});

/** Sends a call with a 500 ms limit to a service that responds with `text`. Collects the deferred parsing steps. */
async function startCall(text: string, call = read, PoolClass = Pool) {
  const service = await startService((_request, response) => response.end(text));
  const steps: (() => void)[] = [];
  const client = createClientState(service.url, {
    pool: new PoolClass(service.url),
    timeouts: new TimeoutQueue(500),
    deferParsing: (step) => steps.push(step),
  });
  const signal = new CancelSource();
  const callContext = createCallContexts().of(bearer, signal);
  const results: unknown[] = [];
  sendCall(client, call, callContext).then(
    (value) => results.push(value),
    (error: unknown) => results.push(error),
  );
  return {
    service,
    steps,
    results,
    signal,
    entries: callContext.callLog.entries,
    async [Symbol.asyncDispose]() {
      await client.pool.destroy();
      await service[Symbol.asyncDispose]();
    },
  };
}

test.each([
  ['read', read],
  ['write', write],
])('a response to a %s has no timeout while its parsing is deferred', async (_kind, call) => {
  await using sent = await startCall('{"name":"orders/7"}', call);
  const { steps, results, entries, signal } = sent;
  await until(() => steps.length === 1);
  const durationMs = entries[0]?.durationMs;
  await pause(600);
  signal.abort(new Error('nobody waits'));
  expect(results).toEqual([]);
  steps[0]?.();
  await until(() => results.length === 1);
  expect(results).toEqual([{ name: 'orders/7' }]);
  expect(durationMs).toBeGreaterThan(0);
  expect(entries[0]?.durationMs).toBe(durationMs);
});

test.each([
  ['deferred', 16_384, 1],
  ['immediate', 16_385, 0],
])('parsing is %s if the response has %i characters', async (_what, characters, stepsDeferred) => {
  const text = JSON.stringify('a'.repeat(characters - 2));
  await using sent = await startCall(text);
  const { steps, results } = sent;
  await until(() => steps.length + results.length === 1);
  expect(steps).toHaveLength(stepsDeferred);
  for (const step of steps) step();
  await until(() => results.length === 1);
  expect(results).toEqual([JSON.parse(text)]);
});

test('a write is aborted if the connection pool starts its request twice', async () => {
  class Resending extends Pool {
    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      return super.dispatch(options, {
        onRequestStart(controller, context) {
          handler.onRequestStart?.(controller, context);
          handler.onRequestStart?.(controller, context);
        },
        onResponseStart: (...parameters) => handler.onResponseStart?.(...parameters),
        onResponseData: (...parameters) => handler.onResponseData?.(...parameters),
        onResponseEnd: (...parameters) => handler.onResponseEnd?.(...parameters),
        onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
      });
    }
  }
  await using sent = await startCall('{}', write, Resending);
  const { service, results } = sent;
  await until(() => results.length === 1);
  expect(results[0]).toBeInstanceOf(OutcomeUnknownError);
  expect(service.requests).toEqual([]);
});

test('the duration of a retried call covers all attempts', async () => {
  await using rest = await startRestClient(
    async (request, response, body) => {
      const isFirst = rest.service.requests.length === 1;
      if (isFirst) await pause(30);
      answerJson({ name: 'orders/7' }, isFirst ? 503 : 200, isFirst ? { 'retry-after': '0' } : {})(
        request,
        response,
        body,
      );
    },
    { retries: 1 },
  );
  const callContext = rest.callContext();
  await rest.api.getOrder('7', callContext);
  const [entry] = callContext.callLog.entries;
  expect([entry?.retries, entry?.status]).toEqual([1, 200]);
  expect(entry?.durationMs).toBeGreaterThan(29);
  expect(entry?.durationMs).toBeLessThanOrEqual(callContext.callLog.elapsedMs());
});

describe('a call context', () => {
  const { signal } = new AbortController();

  test('rejects reads beyond its budget but allows writes', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const callContext = createCallContexts({ readsPerOperation: 1 }).of(bearer, signal);
    await rest.api.getOrder('7', callContext);
    expect((await errorOf(rest.api.getOrder('8', callContext))).name).toBe('ReadBudgetExceededError');
    await rest.api.updateOrder('7', { order: { notes: 'a' }, updateMask: ['notes'] }, callContext);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7', 'PATCH /v1/orders/7']);
  });

  test('shares its token but not its read budget with a detached context', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const callContext = createCallContexts({ readsPerOperation: 1 }).of(bearer, signal);
    const detached = callContext.detach();
    for (const id of ['1', '2']) await rest.api.getOrder(id, detached);
    expect([callContext.readsLeft(), callContext.callLog.entries.length]).toEqual([1, 0]);
    expect(rest.service.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${bearer}`,
      `Bearer ${bearer}`,
    ]);
  });

  test('has an accepted token only after a 2xx response', async () => {
    await using rest = await startRestClient((request, response, body) =>
      (request.url === '/v1/orders/7' ? answerAsPromised : answerJson({}, 404))(request, response, body),
    );
    const { tenants } = rest;
    const callContext = rest.callContext();
    await errorOf(rest.api.getOrder('8', callContext));
    expect(tenants.accepted(bearer)).toBeUndefined();
    await rest.api.getOrder('7', callContext);
    expect(tenants.accepted(bearer)).toBe(tenants.of(bearer));
  });
});
