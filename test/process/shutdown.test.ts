import { once } from 'node:events';
import { Agent, get, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { type Answer, startService, until } from '../fixtures/rest-service.ts';
import { startProcess } from '../fixtures/server-process.ts';

const post = (url: URL, query: string, signal?: AbortSignal) =>
  fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' },
    body: JSON.stringify({ query }),
    ...(signal && { signal }),
  });

const outcome = (asked: Promise<Response>) =>
  asked.then(
    (response) => response.status,
    () => 'refused',
  );

/** Asks on a new connection. @returns the status, or the code of the connection's error. */
function statusOf(url: URL): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const asked = request(new URL('/graphql', url), {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' },
  });
  asked.once('response', (response) => resolve(response.resume().statusCode));
  asked.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  asked.end('{"query":"{ order(id: \\"a\\") { id } }"}');
  return promise;
}

/** Holds the responses to calls for records until `release`. */
function holding() {
  const waiting: (() => void)[] = [];
  const answer: Answer = (request, response) => {
    const name = request.url?.replace('/v1/', '');
    waiting.push(() => response.end(JSON.stringify({ name })));
  };
  const release = () => {
    for (const finish of waiting.splice(0)) finish();
  };
  return { waiting, answer, release };
}

describe('SIGTERM', () => {
  test('lets 50 running requests finish and rejects new requests', async () => {
    const { waiting, answer, release } = holding();
    await using service = await startService(answer);
    const server = await startProcess(service, { UPSTREAM_CONNECTIONS: '100' });
    const asked = Array.from({ length: 50 }, (_, index) =>
      post(server.url, `{ order(id: "o${index}") { id } }`),
    );
    await until(() => waiting.length === 50);
    server.signal('SIGTERM');
    await expect.poll(() => outcome(fetch(new URL('/health/live', server.url)))).toBe('refused');
    expect(await outcome(post(server.url, '{ order(id: "late") { id } }'))).toBe('refused');
    release();
    const answers = await Promise.all(
      asked.map(async (response) => {
        const { status, headers } = await response;
        return [status, headers.get('connection'), await (await response).json()];
      }),
    );
    expect(answers).toEqual(
      Array.from({ length: 50 }, (_, index) => [
        200,
        'close',
        { data: { order: { id: `orders/o${index}` } } },
      ]),
    );
    expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
    expect(service.requests.some(({ line }) => line.includes('late'))).toBe(false);
  });

  test('makes the server not ready before it stops accepting requests', async () => {
    await using service = await startService((_request, response) => response.end());
    const server = await startProcess(service, { DRAIN_WAIT_MS: '1500' });
    const agent = new Agent({ keepAlive: true });
    const health = async (path: string) => {
      const [response] = await once(get(new URL(path, server.url), { agent }), 'response');
      return [response.statusCode, response.headers.connection, JSON.parse(await text(response))];
    };
    expect(await health('/health/ready')).toEqual([200, 'keep-alive', { status: 'ready' }]);
    server.signal('SIGTERM');
    await expect.poll(async () => (await health('/health/ready'))[0]).toBe(503);
    expect(await health('/health/ready')).toEqual([
      503,
      'close',
      { status: 'not ready', reason: 'This server is shutting down.' },
    ]);
    expect(await health('/health/live')).toEqual([200, 'close', { status: 'live' }]);
    agent.destroy();
    expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
  });

  test('resets no connection before the port is closed', async () => {
    // A busy machine took longer than 1.5 seconds for one burst.
    const waitMs = 5_000;
    await using service = await startService((request, response) => {
      response.end(JSON.stringify({ name: request.url?.replace('/v1/', '') }));
    });
    const server = await startProcess(service, { DRAIN_WAIT_MS: String(waitMs) });
    // Each burst has connections of its own, and the first is as cold as it can be.
    const burst = () => Promise.all(Array.from({ length: 20 }, () => statusOf(server.url)));
    server.signal('SIGTERM');
    const signalledAtMs = performance.now();
    const outcomes = new Set<unknown>();
    for (;;) {
      const ones = await burst();
      // The port may have closed during a burst that ends later than this.
      if (performance.now() - signalledAtMs > waitMs) break;
      for (const one of ones) outcomes.add(one);
    }
    expect(outcomes).toEqual(new Set([200]));
    expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
    expect(await statusOf(server.url)).toBe('ECONNREFUSED');
  });

  test('aborts running requests after the grace period', async () => {
    const { waiting, answer } = holding();
    await using service = await startService(answer);
    const server = await startProcess(service, { DRAIN_GRACE_MS: '200' });
    const asked = outcome(post(server.url, '{ order(id: "a") { id } }'));
    await until(() => waiting.length === 1);
    server.signal('SIGTERM');
    expect(await asked).toBe('refused');
    expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
  });

  test('does not count as a second signal after the SIGINT of the same Ctrl-C', async () => {
    const { waiting, answer, release } = holding();
    await using service = await startService(answer);
    const server = await startProcess(service);
    const asked = post(server.url, '{ order(id: "a") { id } }');
    await until(() => waiting.length === 1);
    server.signal('SIGINT');
    server.signal('SIGTERM');
    await expect.poll(() => outcome(fetch(new URL('/health/live', server.url)))).toBe('refused');
    release();
    expect(await (await asked).json()).toEqual({ data: { order: { id: 'orders/a' } } });
    expect((await server.exit).code).toBe(0);
  });
});

test('SIGINT skips DRAIN_WAIT_MS but lets running requests finish', async () => {
  const { waiting, answer, release } = holding();
  await using service = await startService(answer);
  const server = await startProcess(service, { DRAIN_WAIT_MS: '600000' });
  const asked = post(server.url, '{ order(id: "a") { id } }');
  await until(() => waiting.length === 1);
  server.signal('SIGINT');
  const live = () =>
    outcome(
      fetch(new URL('/health/live', server.url), {
        headers: { connection: 'close' },
        signal: AbortSignal.timeout(500),
      }),
    );
  await expect.poll(live).toBe('refused');
  release();
  expect(await (await asked).json()).toEqual({ data: { order: { id: 'orders/a' } } });
  expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
});

test('a second signal makes the server exit with code 1', async () => {
  const { waiting, answer } = holding();
  await using service = await startService(answer);
  const server = await startProcess(service);
  const asked = outcome(post(server.url, '{ order(id: "a") { id } }'));
  await until(() => waiting.length === 1);
  server.signal('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 400));
  server.signal('SIGTERM');
  expect(await server.exit).toEqual({ code: 1, signal: null, errors: '' });
  expect(await asked).toBe('refused');
});

test('a write finishes during the shutdown even if the client has disconnected', async () => {
  let finished: boolean | undefined;
  let finish = () => {};
  await using service = await startService((_request, response) => {
    response.once('close', () => {
      finished = response.writableFinished;
    });
    finish = () => response.end('{"name":"orders/a"}');
  });
  const server = await startProcess(service);
  const client = new AbortController();
  const gone = post(
    server.url,
    'mutation { updateOrder(input: { id: "a", notes: "Ring twice" }) { __typename } }',
    client.signal,
  );
  await until(() => service.requests.length === 1);
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  server.signal('SIGTERM');
  // Time for what should not happen.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(finished).toBe(undefined);
  finish();
  expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
  expect(finished).toBe(true);
  expect(service.lines()).toEqual(['PATCH /v1/orders/a']);
});

describe('a mutation whose client disconnected before the shutdown', () => {
  const inTurn: Answer = async (request, response) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    response.end(JSON.stringify({ name: request.url?.replace('/v1/', '').replace(/\?.*/, '') }));
  };
  const mutation = `mutation {
    a: updateOrder(input: { id: "a", notes: "Ring twice" }) { __typename }
    b: updateOrder(input: { id: "b", notes: "Ring twice" }) { __typename }
    c: updateOrder(input: { id: "c", notes: "Ring twice" }) { __typename }
  }`;

  /** Leaves after the first call, has the process end, and answers what REST has seen until it has. */
  async function left(environment: Record<string, string>) {
    await using service = await startService(inTurn);
    const server = await startProcess(service, environment);
    const client = new AbortController();
    const gone = post(server.url, mutation, client.signal);
    await until(() => service.requests.length === 1);
    client.abort();
    await expect(gone).rejects.toThrow('aborted');
    server.signal('SIGTERM');
    expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
    return service.lines();
  }

  test('completes all writes', async () => {
    expect(await left({})).toEqual(['a', 'b', 'c'].map((id) => `PATCH /v1/orders/${id}`));
  });

  test('sends no write after the grace period', async () => {
    expect(await left({ DRAIN_GRACE_MS: '0' })).toEqual(['PATCH /v1/orders/a']);
  });
});
