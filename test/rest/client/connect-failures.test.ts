import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  AbortedError,
  DeadlineError,
  OutcomeUnknownError,
  UnavailableError,
} from '../../../src/rest/errors.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { type Answer, answerJson, errorOf, startRestClient } from '../../fixtures/rest-service.ts';
import { newOrder } from '../bodies.ts';

const never: Answer = () => {};
const order = { name: 'orders/7' };

/** The channel on which undici publishes each failed connection. */
const connectError = channel('undici:client:connectError');
let listener: () => void = () => {};

/** Counts failed connections. Calls `then` after each failure, before the client handles the failure. */
function countFailures(then: () => void = () => {}): { count: number } {
  const failures = { count: 0 };
  listener = () => {
    failures.count += 1;
    then();
  };
  connectError.subscribe(listener);
  return failures;
}

afterEach(() => connectError.unsubscribe(listener));

const startRestClientAt = (baseUrl: string, options = {}) =>
  startRestClient(never, { baseUrl: new URL(baseUrl), ...options });

describe('a write without a connection', () => {
  test.each([1, 2])('is sent when a connection opens (failures before: %i)', async (failuresBefore) => {
    const port = await freePort();
    await using rest = await startRestClientAt(`http://127.0.0.1:${port}`);
    const bodies: string[] = [];
    const server: Server = createServer(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString());
      response.end(JSON.stringify(order));
    });
    const failures = countFailures(() => {
      if (failures.count === failuresBefore) server.listen(port, '127.0.0.1');
    });
    try {
      expect(await rest.api.createOrder(newOrder, rest.callContext())).toEqual(order);
    } finally {
      server.close();
      server.closeAllConnections();
    }
    expect(failures.count).toBe(failuresBefore);
    expect(bodies).toEqual([JSON.stringify(newOrder)]);
  });

  test('is tried three times even if reads are not retried', async () => {
    await using rest = await startRestClientAt(`http://127.0.0.1:${await freePort()}`);
    const failures = countFailures();
    const written = await errorOf(rest.api.createOrder(newOrder, rest.callContext()));
    expect(written).toBeInstanceOf(UnavailableError);
    expect(written.message).toBe('POST /v1/orders got no response (ECONNREFUSED)');
    expect(failures.count).toBe(3);
    expect(await errorOf(rest.api.getOrder('7', rest.callContext()))).toBeInstanceOf(UnavailableError);
    expect(failures.count).toBe(4);
  });

  test('is tried three times if the host name has no address', async () => {
    await using rest = await startRestClientAt('http://nowhere.invalid');
    const failures = countFailures();
    expect(await errorOf(rest.api.createOrder(newOrder, rest.callContext()))).toBeInstanceOf(
      UnavailableError,
    );
    expect(failures.count).toBe(3);
  });

  test('is tried three times if several addresses refuse the connection', async () => {
    await using rest = await startRestClientAt(`http://localhost:${await freePort()}`);
    const failures = countFailures();
    expect(await errorOf(rest.api.createOrder(newOrder, rest.callContext()))).toBeInstanceOf(
      UnavailableError,
    );
    expect(failures.count).toBe(3);
  });

  test('is tried again after a connect timeout', async () => {
    const controller = new AbortController();
    const sockets: Socket[] = [];
    // Accepts connections, but never starts TLS.
    const server = createSocketServer((socket) => {
      sockets.push(socket);
      if (sockets.length === 2) controller.abort();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // The cast is safe: the address of a TCP server is an object.
    const { port } = server.address() as AddressInfo;
    await using rest = await startRestClientAt(`https://127.0.0.1:${port}`, {
      connectTimeoutMs: 20,
      callTimeoutMs: 60_000,
    });
    const error = await errorOf(rest.api.createOrder(newOrder, rest.callContext(controller.signal)));
    expect(error).toBeInstanceOf(AbortedError);
    expect(sockets).toHaveLength(2);
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  test('is not tried again after the operation is aborted', async () => {
    await using rest = await startRestClientAt(`http://127.0.0.1:${await freePort()}`);
    const controller = new AbortController();
    // Aborts during the pause: an immediate runs before the timer of the pause.
    const failures = countFailures(() => setImmediate(() => controller.abort()));
    const error = await errorOf(rest.api.createOrder(newOrder, rest.callContext(controller.signal)));
    expect(error).toBeInstanceOf(AbortedError);
    expect(failures.count).toBe(1);
  });

  test('is not tried again after its deadline', async () => {
    // The deadline passes before the end of any pause, because a timer takes at least one millisecond.
    await using rest = await startRestClientAt(`http://127.0.0.1:${await freePort()}`, { callTimeoutMs: 1 });
    const error = await errorOf(rest.api.createOrder(newOrder, rest.callContext()));
    expect(error).toBeInstanceOf(DeadlineError);
  });
});

test('a write is not sent again if its kept-alive connection breaks', async () => {
  await using rest = await startRestClient(
    (request, response, body) =>
      request.method === 'GET' ? answerJson(order)(request, response, body) : request.socket.end(),
    { connections: 1 },
  );
  await rest.api.getOrder('7', rest.callContext());
  const error = await errorOf(rest.api.createOrder(newOrder, rest.callContext()));
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(rest.service.lines()).toEqual(['GET /v1/orders/7', 'POST /v1/orders']);
  expect(rest.service.connections).toBe(1);
});
