import { setTimeout as pause } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { expect, test } from 'vitest';
import { CancelSource } from '../../../src/concurrency/cancellation.ts';
import type { RestCall } from '../../../src/rest/call.ts';
import { recordCall } from '../../../src/rest/client/call-log.ts';
import { createJsonTransport } from '../../../src/rest/client/transport.ts';
import { OutcomeUnknownError } from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { bearer, startService, until } from '../../fixtures/rest-service.ts';

const read: RestCall = { method: 'GET', path: '/v1/orders/7' };
const write: RestCall = { method: 'POST', path: '/v1/orders', body: {} };

/**
 * Sends one attempt with a 500 ms limit to a service that responds with `text`. Collects the deferred parsing steps.
 */
async function startAttempt(text: string, call = read, PoolClass = Pool) {
  const service = await startService((_request, response) => response.end(text));
  const pool = new PoolClass(service.url);
  const steps: (() => void)[] = [];
  const transport = createJsonTransport(pool, {
    baseUrl: service.url,
    callTimeoutMs: 500,
    maxResponseBytes: 100_000,
    defer: (step) => steps.push(step),
  });
  const signal = new CancelSource();
  const callContext = createCallContexts({ callsPerOperation: 1 }).of(bearer, signal);
  const entry = recordCall(callContext.callLog, call);
  const results: unknown[] = [];
  transport.send({
    call,
    callContext,
    signal,
    entry,
    headers: undefined,
    succeeded: (value) => results.push(value),
    failed: (error) => results.push(error),
  });
  return {
    service,
    steps,
    results,
    entry,
    signal,
    async [Symbol.asyncDispose]() {
      await pool.destroy();
      await service[Symbol.asyncDispose]();
    },
  };
}

test.each([
  ['read', read],
  ['write', write],
])(
  'a response to a %s that has arrived is neither timed out nor aborted while its parsing is deferred',
  async (_kind, call) => {
    await using attempt = await startAttempt('{"name":"orders/7"}', call);
    const { steps, results, entry, signal } = attempt;
    await until(() => steps.length === 1);
    const { durationMs } = entry;
    await pause(600);
    signal.abort(new Error('nobody waits'));
    expect(results).toEqual([]);
    steps[0]?.();
    expect(results).toEqual([{ name: 'orders/7' }]);
    expect(durationMs).toBeGreaterThan(0);
    expect(entry.durationMs).toBe(durationMs);
  },
);

test.each([
  ['deferred', 16_384, 1],
  ['parsed at once', 16_385, 0],
])('a response is %s with %i characters', async (_what, characters, stepsDeferred) => {
  const text = JSON.stringify('a'.repeat(characters - 2));
  await using attempt = await startAttempt(text);
  const { steps, results } = attempt;
  await until(() => steps.length + results.length === 1);
  expect(steps).toHaveLength(stepsDeferred);
  for (const step of steps) step();
  expect(results).toEqual([JSON.parse(text)]);
});

test('a write is aborted if the connection pool starts the request twice', async () => {
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
  await using attempt = await startAttempt('{}', write, Resending);
  const { service, results } = attempt;
  await until(() => results.length === 1);
  expect(results[0]).toBeInstanceOf(OutcomeUnknownError);
  expect(service.requests).toEqual([]);
});
