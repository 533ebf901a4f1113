import { channel } from 'node:diagnostics_channel';
import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { CancelSource } from '../../../src/concurrency/cancellation.ts';
import { sendCall } from '../../../src/rest/client/client.ts';
import {
  AbortedError,
  mayHaveHappened,
  OutcomeUnknownError,
  WaybillError,
} from '../../../src/rest/errors.ts';
import type { CallOutcome } from '../../../src/rest/protection/circuit-breaker.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { createClientState } from '../../fixtures/client-state.ts';
import { freePort } from '../../fixtures/free-port.ts';
import {
  answerAsPromised,
  answerJson,
  errorOf,
  startRestClient,
  until,
} from '../../fixtures/rest-service.ts';
import { newOrder, orderUpdate } from '../bodies.ts';

class LostError extends WaybillError {
  override readonly name = 'LostError';
}
const lost = new LostError('the claim is lost');
const refuse = () => {
  throw lost;
};

describe('the check before a write', () => {
  test('is called once for each write but not for a read', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const sentBefore: string[][] = [];
    const beforeWrite = () => void sentBefore.push(rest.service.lines());
    const callContext = rest.callContext().untilDeadline(beforeWrite);
    await rest.api.getOrder('7', callContext);
    await rest.api.createOrder(newOrder, callContext);
    await rest.api.updateOrder('7', orderUpdate, callContext);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/7', 'POST /v1/orders', 'PATCH /v1/orders/7']);
    expect(sentBefore).toEqual([['GET /v1/orders/7'], ['GET /v1/orders/7', 'POST /v1/orders']]);
  });

  test('is called only after the write gets a slot', async () => {
    const held: (() => void)[] = [];
    await using rest = await startRestClient((request, response, body) => {
      held.push(() => answerAsPromised(request, response, body));
    });
    const callContext = rest.callContext(undefined, 1);
    let checks = 0;
    const beforeWrite = () => {
      checks += 1;
    };
    const read = rest.api.getOrder('7', callContext);
    const written = rest.api.createOrder(newOrder, callContext.untilDeadline(beforeWrite));
    await until(() => held.length === 1);
    expect(checks).toBe(0);
    held[0]?.();
    await read;
    await until(() => held.length === 2);
    expect(checks).toBe(1);
    held[1]?.();
    expect(await written).toEqual({ name: 'orders/1' });
  });

  test('stops the write with the thrown error before any request is sent', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const error = await errorOf(rest.api.createOrder(newOrder, rest.callContext().untilDeadline(refuse)));
    expect(error).toBe(lost);
    expect(mayHaveHappened(error)).toBe(false);
    expect(rest.service.lines()).toEqual([]);
  });

  test('frees the slot for the next call if it throws', async () => {
    await using rest = await startRestClient(answerAsPromised);
    const callContext = rest.callContext(undefined, 1);
    await errorOf(rest.api.createOrder(newOrder, callContext.untilDeadline(refuse)));
    expect(await rest.api.getOrder('7', callContext)).toEqual({ name: 'orders/7' });
  });

  test('is not called again after the connection breaks', async () => {
    await using rest = await startRestClient((request) => request.socket.destroy());
    let checks = 0;
    const beforeWrite = () => {
      checks += 1;
    };
    const error = await errorOf(
      rest.api.createOrder(newOrder, rest.callContext().untilDeadline(beforeWrite)),
    );
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(checks).toBe(1);
  });
});

test('writes that end because the client is closed count as aborted', async () => {
  await using rest = await startRestClient(() => {});
  const writes = [1, 2, 3].map(() => errorOf(rest.api.createOrder(newOrder, rest.callContext())));
  await until(() => rest.service.lines().length === 3);
  await rest.client.close();
  for (const error of await Promise.all(writes)) {
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.cause).toBeInstanceOf(AbortedError);
  }
});

/** The channel on which undici publishes each failed connection. */
const connectError = channel('undici:client:connectError');
let onRefused: () => void = () => {};
afterEach(() => connectError.unsubscribe(onRefused));

describe('a write after a refused connection', () => {
  /**
   * Writes to a service that starts to listen after the first refused connection.
   * @param check called before the write is sent.
   */
  async function writeToLateService(check: () => void) {
    const port = await freePort();
    await using rest = await startRestClient(() => {}, { baseUrl: new URL(`http://127.0.0.1:${port}`) });
    const events: string[] = [];
    const server: Server = createServer((request, response) => {
      events.push('sent');
      answerJson({ name: 'orders/7' })(request, response, '');
    });
    onRefused = () => {
      events.push('refused');
      server.listen(port, '127.0.0.1');
    };
    connectError.subscribe(onRefused);
    const beforeWrite = () => {
      events.push('checked');
      check();
    };
    try {
      const result = await rest.api
        .createOrder(newOrder, rest.callContext().untilDeadline(beforeWrite))
        .catch((error: unknown) => error);
      return { result, events };
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  test('is checked after the new connection opens, before the request is sent', async () => {
    const { result, events } = await writeToLateService(() => {});
    expect(result).toEqual({ name: 'orders/7' });
    expect(events).toEqual(['refused', 'checked', 'sent']);
  });

  test('is not sent if the check throws', async () => {
    const { result, events } = await writeToLateService(refuse);
    expect(result).toBe(lost);
    expect(events).toEqual(['refused', 'checked']);
  });
});

describe('the circuit breaker', () => {
  /** The outcome that the circuit breaker gets of a write to this service. */
  async function outcomeOf(baseUrl: URL, beforeWrite: () => void): Promise<CallOutcome[]> {
    const outcomes: CallOutcome[] = [];
    const circuit = {
      refuses: () => false,
      acquirePermit: () => 'usual' as const,
      recordOutcome: (_tenant: unknown, _permit: unknown, outcome: CallOutcome) =>
        void outcomes.push(outcome),
      retryAfterMs: () => 0,
      isOpen: () => false,
    };
    const client = createClientState(baseUrl, { circuits: { of: () => circuit, open: () => [] } });
    const callContext = createCallContexts().of('token', new CancelSource()).untilDeadline(beforeWrite);
    await errorOf(sendCall(client, { method: 'POST', path: '/v1/orders', body: {} }, callContext));
    await client.pool.destroy();
    return outcomes;
  }

  test('ignores a write if the check before the write throws', async () => {
    await using rest = await startRestClient(answerAsPromised);
    expect(await outcomeOf(rest.service.url, refuse)).toEqual(['aborted']);
    expect(rest.service.lines()).toEqual([]);
  });

  test('counts a write that gets no connection as a failure', async () => {
    const baseUrl = new URL(`http://127.0.0.1:${await freePort()}`);
    expect(await outcomeOf(baseUrl, () => {})).toEqual(['failed']);
  });
});
