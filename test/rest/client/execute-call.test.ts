import { describe, expect, test } from 'vitest';
import { CancelSource } from '../../../src/concurrency/cancellation.ts';
import type { CallContext } from '../../../src/rest/client/call-context.ts';
import type { CallLogEntry } from '../../../src/rest/client/call-log.ts';
import type { CallObserver } from '../../../src/rest/client/call-observer.ts';
import { executeCall, type PendingCall } from '../../../src/rest/client/execute-call.ts';
import type { TransportRequest } from '../../../src/rest/client/transport.ts';
import { AbortedError, StatusError } from '../../../src/rest/errors.ts';
import { createCircuits } from '../../../src/rest/protection/circuit-breaker.ts';
import { createRetries } from '../../../src/rest/protection/retries.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import {
  answerAsPromised,
  answerJson,
  errorOf,
  type StartedRestClient,
  startRestClient,
  until,
} from '../../fixtures/rest-service.ts';

const retriesOf = ({ callLog }: CallContext) => callLog.entries.map(({ retries }) => retries);
const order = { method: 'GET' as const, path: '/v1/orders/7' };

describe('an observer that throws when a call is sent and when the call finishes', () => {
  const observer: CallObserver = {
    onCallSent() {
      throw new Error('broken');
    },
    onCallFinished() {
      throw new Error('broken');
    },
  };

  test.each([200, 404])('does not change the outcome of a read or a write: %d', async (status) => {
    const answer = status === 200 ? answerAsPromised : answerJson({}, status);
    await using rest = await startRestClient(answer, { observer });
    const callContext = rest.callContext(undefined, 1);
    const outcomes = await Promise.all(
      [
        rest.api.getOrder('7', callContext),
        rest.api.getOrder('8', callContext),
        rest.api.updateOrder('7', { order: { notes: 'a' }, updateMask: ['notes'] }, callContext),
      ].map((outcome) => outcome.catch(({ message }: Error) => message)),
    );
    const expectedLines = ['GET /v1/orders/7', 'GET /v1/orders/8', 'PATCH /v1/orders/7'];
    expect(outcomes).toEqual(
      status === 200
        ? ['7', '8', '7'].map((id) => ({ name: `orders/${id}` }))
        : expectedLines.map((line) => `${line} answered 404`),
    );
    expect(rest.service.lines().sort()).toEqual(expectedLines);
  });
});

describe('a read that waits for a retry', () => {
  type OnSlot = (signal: CancelSource) => unknown;

  /** Sends a read with a slot whose `release` and `reacquire` are the given functions. */
  function read(
    { client }: StartedRestClient,
    callContext: CallContext,
    { release = () => {}, reacquire = () => {} }: { release?: OnSlot; reacquire?: OnSlot },
  ): Promise<unknown> {
    const signal = new CancelSource();
    const slot: PendingCall<unknown>['slot'] = {
      release: () => void release(signal),
      reacquire: async () => void (await reacquire(signal)),
    };
    return new Promise((resolve, reject) => {
      client.read(order, callContext, { signal, fieldPath: undefined, slot, resolve, reject });
    });
  }

  const abort = (signal: CancelSource) => signal.abort(new Error('gone'));

  test.each([
    ['in the pause', { release: (signal: CancelSource) => queueMicrotask(() => abort(signal)) }],
    ['just after the pause', { reacquire: abort }],
  ])('is not retried if the read is aborted %s', async (_when, slot) => {
    await using rest = await startRestClient(answerJson({}, 503), { retries: 2 });
    const error = await errorOf(read(rest, rest.callContext(), slot));
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.message).toBe('GET /v1/orders/7 was given up by its caller');
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7']);
  });

  test('fails with the last error if the circuit breaker is open after the pause', async () => {
    await using rest = await startRestClient(
      (request, response, body) =>
        answerJson({}, request.url === '/v1/orders/7' ? 503 : 500)(request, response, body),
      { retries: 2, circuitBreaker: { minCalls: 3 } },
    );
    const callContexts = createCallContexts({ callsPerOperation: 16 });
    const { signal } = new AbortController();
    const callContext = callContexts.of('ana', signal);
    const error = await errorOf(
      read(rest, callContext, {
        reacquire: () =>
          Promise.all(
            ['eva', 'ida'].map((who) => errorOf(rest.api.getOrder(who, callContexts.of(who, signal)))),
          ),
      }),
    );
    expect(error).toBeInstanceOf(StatusError);
    expect(error.message).toBe('GET /v1/orders/7 answered 503');
    expect(rest.client.openCircuits()).toEqual(['GET /v1/orders/{id}']);
    expect(rest.service.lines().sort()).toEqual([
      'GET /v1/orders/7',
      'GET /v1/orders/eva',
      'GET /v1/orders/ida',
    ]);
    expect(retriesOf(callContext)).toEqual([0]);
  });

  test('fails with the last error if the queue is full after the pause', async () => {
    const heldResponses: (() => void)[] = [];
    await using rest = await startRestClient(
      (request, response, body) => {
        if (request.url === '/v1/orders/7') answerJson({}, 503)(request, response, body);
        else heldResponses.push(() => answerAsPromised(request, response, body));
      },
      { retries: 2 },
    );
    const callContexts = createCallContexts({ callsPerOperation: 2, callsAtOnce: 1, callsWaiting: 3 });
    const { signal } = new AbortController();
    const [ana, eva, ida] = ['ana', 'eva', 'ida'].map((who) => callContexts.of(who, signal)) as [
      CallContext,
      CallContext,
      CallContext,
    ]; // Safe: one context for each name.
    const failed = errorOf(rest.api.getOrder('7', ana));
    // The first call of eva gets the slot that the pause releases. The other two calls fill the queue.
    const others = [rest.api.getOrder('1', eva), rest.api.getOrder('2', eva), rest.api.getOrder('3', ida)];
    expect(callContexts.callsWaiting()).toBe(2);
    const error = await failed;
    expect(error).toBeInstanceOf(StatusError);
    expect(error.message).toBe('GET /v1/orders/7 answered 503');
    for (const _ of others) {
      await until(() => heldResponses.length > 0);
      heldResponses.shift()?.();
    }
    expect(await Promise.all(others)).toEqual(['1', '2', '3'].map((id) => ({ name: `orders/${id}` })));
    expect(rest.service.lines()).toEqual(['7', '1', '3', '2'].map((id) => `GET /v1/orders/${id}`));
    expect([retriesOf(ana), callContexts.callsWaiting()]).toEqual([[0], 0]);
  });
});

describe('the duration of a call', () => {
  type Attempt = (request: TransportRequest<string>) => void;

  /** Sends a read whose attempts are handled by `attempts`, in order, and waits for the outcome. */
  async function sendRead(...attempts: Attempt[]): Promise<CallLogEntry> {
    const policy = {
      circuits: createCircuits(),
      retries: createRetries({ maxRetries: 1 }),
      observer: undefined,
    };
    const callContext = createCallContexts({ callsPerOperation: 1 }).of('token', new CancelSource());
    await new Promise<string>((resolve, reject) => {
      const transport = { send: (request: TransportRequest<string>) => attempts.shift()?.(request) };
      const signal = new CancelSource();
      executeCall(policy, transport, order, callContext, { signal, fieldPath: undefined, resolve, reject });
    });
    const [entry] = callContext.callLog.entries;
    if (entry === undefined) throw new Error('Expected a call');
    return entry;
  }

  test('ends when the response arrives, not when the response is parsed', async () => {
    const { durationMs } = await sendRead((request) => {
      request.entry.durationMs = 7_000;
      request.succeeded('answer');
    });
    expect(durationMs).toBe(7_000);
  });

  test('is not the duration of a failed first attempt', async () => {
    const { durationMs } = await sendRead(
      (request) => {
        request.entry.durationMs = 7_000;
        request.failed(new StatusError(request.call, 503, { fields: [] }));
      },
      (request) => request.succeeded('answer'),
    );
    expect(durationMs).toBeLessThan(7_000);
  });
});
