import { getEventListeners } from 'node:events';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import {
  AbortedError,
  DeadlineError,
  InvalidResponseError,
  OutcomeUnknownError,
  UnavailableError,
} from '../../../src/rest/errors.ts';
import {
  type Answer,
  answerAsPromised,
  answerJson,
  errorOf,
  startRestClient,
  until,
} from '../../fixtures/rest-service.ts';

const order = { name: 'orders/7' };
const never: Answer = () => {};
const text = { text: 'a' };

describe('the deadline of a call', () => {
  test('ends a read that gets no response', async () => {
    await using rest = await startRestClient(never, { callTimeoutMs: 600 });
    const start = performance.now();
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error).toBeInstanceOf(DeadlineError);
    expect(error.message).toBe('GET /v1/orders/7 was not answered within 600 ms');
    expect(performance.now() - start).toBeGreaterThanOrEqual(598);
    expect(rest.service.requests).toHaveLength(1);
  });

  test('ends a read although bytes of the body keep arriving', async () => {
    let isClosed = false;
    await using rest = await startRestClient(
      (_request, response) => {
        const drip = setInterval(() => response.write(' '), 5);
        response.on('close', () => {
          clearInterval(drip);
          isClosed = true;
        });
      },
      { callTimeoutMs: 600 },
    );
    expect(await errorOf(rest.api.getOrder('7', rest.callContext()))).toBeInstanceOf(DeadlineError);
    await until(() => isClosed);
  });

  test('ends calls that wait for a free connection', async () => {
    await using rest = await startRestClient(never, { connections: 1, callTimeoutMs: 250 });
    // The clock stands still, so that the three deadlines pass at the same time.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const calls = [
      errorOf(rest.api.getOrder('1', rest.callContext())),
      errorOf(rest.api.getOrder('2', rest.callContext())),
      // The write was not sent, so its outcome is known.
      errorOf(rest.api.sendMessage('1', '2', text, rest.callContext())),
    ];
    // A write starts in a microtask.
    await new Promise(setImmediate);
    clock.mockRestore();
    const errors = await Promise.all(calls);
    expect(errors.map(({ name }) => name)).toEqual(['DeadlineError', 'DeadlineError', 'DeadlineError']);
    expect(rest.service.lines()).toEqual(['GET /v1/orders/1']);
  });

  test('ends a label call that waits for the only connection for labels', async () => {
    await using rest = await startRestClient(
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/pdf' });
        const drip = setInterval(() => response.write('%'), 10);
        request.socket.on('close', () => clearInterval(drip));
      },
      { connections: 1, callTimeoutMs: 1_000 },
    );
    const label = await rest.api.getLabel('3', rest.callContext());
    label.body.on('error', () => {}).resume();
    const second = await errorOf(rest.api.getLabel('7', rest.callContext()));
    expect(second.name).toBe('DeadlineError');
    expect(label.body.destroyed).toBe(false);
    label.body.destroy();
    expect(rest.service.lines()).toEqual(['GET /v1/shipments/3/label']);
  });

  test.each([
    ['before any response', never],
    ['during the body', (_request, response) => response.writeHead(200).write('{')],
  ] as [string, Answer][])('leaves the outcome of a write unknown: %s', async (_when, answer) => {
    await using rest = await startRestClient(answer, { callTimeoutMs: 600 });
    const error = await errorOf(rest.api.sendMessage('1', '2', text, rest.callContext()));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.cause).toBeInstanceOf(DeadlineError);
    expect(rest.service.requests).toHaveLength(1);
  });

  test('has no effect after the response', async () => {
    await using rest = await startRestClient(answerJson(order), { callTimeoutMs: 500 });
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual(order);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual(order);
  });
});

describe('a broken connection', () => {
  const resets: [string, Answer][] = [
    ['reset before the headers', (request) => request.socket.resetAndDestroy()],
    ['closed before the headers', (request) => request.socket.end()],
    [
      'reset during the body',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"name":');
        setTimeout(() => request.socket.resetAndDestroy(), 5);
      },
    ],
    [
      'closed during the body',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"name":"orders/7"}');
        setTimeout(() => request.socket.end(), 5);
      },
    ],
  ];

  test.each(resets)('fails a read, and leaves the outcome of a write unknown: %s', async (_when, answer) => {
    await using rest = await startRestClient(answer);
    const read = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(read).toBeInstanceOf(UnavailableError);
    expect(read.message).toMatch(/^GET \/v1\/orders\/7 got no response \([A-Z_]+\)$/);
    expect(read.cause).toBeInstanceOf(Error);
    expect(rest.service.requests).toHaveLength(1);

    const posted = await errorOf(rest.api.sendMessage('1', '2', text, rest.callContext()));
    expect(posted).toBeInstanceOf(OutcomeUnknownError);
    expect(rest.service.requests).toHaveLength(2);

    const update = { order: { notes: 'abc' }, updateMask: ['notes' as const] };
    const patched = await errorOf(rest.api.updateOrder('7', update, rest.callContext()));
    expect(patched).toBeInstanceOf(OutcomeUnknownError);
    expect(patched.message).toBe('PATCH /v1/orders/7 was sent, but its response was lost');
    expect(rest.service.requests).toHaveLength(3);
  });
});

describe('a connection', () => {
  test('that is refused makes reads and writes fail with UnavailableError', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await new Promise((resolve) => server.close(resolve));
    await using rest = await startRestClient(never, { baseUrl: new URL(`http://127.0.0.1:${port}`) });
    for (const call of [
      () => rest.api.getOrder('7', rest.callContext()),
      () => rest.api.sendMessage('1', '2', text, rest.callContext()),
    ]) {
      const error = await errorOf(call());
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error.message).toContain('got no response (ECONNREFUSED)');
    }
  });

  test('to an unknown host makes a write fail with UnavailableError', async () => {
    await using rest = await startRestClient(never, { baseUrl: new URL('http://nowhere.invalid') });
    const error = await errorOf(rest.api.sendMessage('1', '2', text, rest.callContext()));
    expect(error).toBeInstanceOf(UnavailableError);
  });

  test('carries no request if the server does not support TLS', async () => {
    await using rest = await startRestClient(never);
    const baseUrl = new URL(rest.service.url.href.replace('http:', 'https:'));
    await using secure = await startRestClient(never, { baseUrl });
    const error = await errorOf(secure.api.sendMessage('1', '2', text, secure.callContext()));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(rest.service.requests).toEqual([]);
  });

  test('to a server without HTTP makes a read fail with InvalidResponseError', async () => {
    await using rest = await startRestClient((request) => request.socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toBe('GET /v1/orders/7 returned no valid HTTP response');
  });

  test('is reused by the next call', async () => {
    // Held until three requests are pending, so that all three connections are in use, however busy the machine is.
    let held: (() => void)[] = [];
    let isHolding = false;
    await using rest = await startRestClient(
      (...exchange) => {
        held.push(() => answerAsPromised(...exchange));
        if (isHolding && held.length < 3) return;
        isHolding = false;
        const ready = held;
        held = [];
        for (const respond of ready) respond();
      },
      { connections: 3 },
    );
    for (let turn = 0; turn < 5; turn += 1) await rest.api.getOrder('7', rest.callContext());
    // The pool may open a second connection while undici still finishes the first request.
    expect(rest.service.connections).toBeLessThanOrEqual(2);
    isHolding = true;
    await Promise.all(Array.from({ length: 30 }, (_, id) => rest.api.getOrder(`${id}`, rest.callContext())));
    expect(rest.service.connections).toBe(3);
    expect(rest.service.requests).toHaveLength(35);
  });

  test('is replaced after it breaks', async () => {
    let isBroken = true;
    await using rest = await startRestClient(
      (request, response, body) => {
        if (!isBroken) return answerJson(order)(request, response, body);
        isBroken = false;
        return request.socket.resetAndDestroy();
      },
      { connections: 1 },
    );
    expect(await errorOf(rest.api.getOrder('7', rest.callContext()))).toBeInstanceOf(UnavailableError);
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual(order);
  });
});

describe('the abort signal of an operation', () => {
  test('aborts only the REST calls of the operation', async () => {
    const closed: string[] = [];
    await using rest = await startRestClient((request, response) => {
      response.on('close', () => closed.push(request.url ?? ''));
      if (request.url === '/v1/orders/2') setTimeout(() => response.end('{"name":"orders/2"}'), 30);
    });
    const controller = new AbortController();
    const first = errorOf(rest.api.getOrder('1', rest.callContext(controller.signal)));
    const second = rest.api.getOrder('2', rest.callContext());
    await until(() => rest.service.requests.length === 2);
    controller.abort();
    const error = await first;
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.message).toBe('GET /v1/orders/1 was aborted');
    await until(() => closed.includes('/v1/orders/1'));
    expect(await second).toEqual({ name: 'orders/2' });
  });

  test('aborts a call during the response body', async () => {
    let isClosed = false;
    await using rest = await startRestClient((_request, response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.write('{"name":');
    });
    const controller = new AbortController();
    const answer = errorOf(rest.api.getOrder('7', rest.callContext(controller.signal)));
    await until(() => rest.service.requests.length === 1);
    setTimeout(() => controller.abort(), 10);
    expect(await answer).toBeInstanceOf(AbortedError);
    await until(() => isClosed);
  });

  test('leaves the outcome of a sent write unknown', async () => {
    await using rest = await startRestClient(never);
    const controller = new AbortController();
    const answer = errorOf(rest.api.sendMessage('1', '2', text, rest.callContext(controller.signal)));
    await until(() => rest.service.requests.length === 1);
    controller.abort();
    const error = await answer;
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.cause).toBeInstanceOf(AbortedError);
  });

  test('prevents the request if the operation is aborted before the call', async () => {
    await using rest = await startRestClient(answerJson(order));
    const callContext = rest.callContext(AbortSignal.abort());
    for (const call of [
      () => rest.api.getOrder('7', callContext),
      () => rest.api.getLabel('7', callContext),
      () => rest.api.sendMessage('1', '2', text, callContext),
    ]) {
      expect(await errorOf(call())).toBeInstanceOf(AbortedError);
    }
    expect(rest.service.connections).toBe(0);
  });

  test('aborts calls that wait for a slot', async () => {
    await using rest = await startRestClient(never);
    const controller = new AbortController();
    // A token that REST has not accepted has two of three slots.
    const callContext = rest.callContext(controller.signal, 3);
    const answers = ['1', '2', '3', '4'].map((id) => errorOf(rest.api.getOrder(id, callContext)));
    await until(() => rest.service.requests.length === 2);
    controller.abort();
    expect((await Promise.all(answers)).map(({ name }) => name)).toEqual(
      Array.from({ length: 4 }, () => 'AbortedError'),
    );
    expect(rest.service.requests).toHaveLength(2);
  });

  test('has no listener left after a call ends', async () => {
    const { signal } = new AbortController();
    const outcomes: Answer[] = [
      answerJson(order),
      answerJson({}, 503),
      answerJson(null),
      (request) => request.socket.resetAndDestroy(),
      never,
    ];
    for (const answer of outcomes) {
      await using rest = await startRestClient(answer, { callTimeoutMs: 600 });
      const calls = [1, 2, 3].map(() => rest.api.getOrder('7', rest.callContext(signal)));
      await Promise.allSettled([...calls, rest.api.sendMessage('1', '2', text, rest.callContext(signal))]);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
  });
});

test('extra bytes after a compressed response close the connection', async () => {
  const trailing = Buffer.concat([gzipSync(JSON.stringify({ name: 'orders/7' })), Buffer.alloc(1_000)]);
  let isClosed = false;
  await using rest = await startRestClient(
    (_request, response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.write(trailing);
    },
    { connections: 1 },
  );
  for (const _ of [1, 2]) {
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual({ name: 'orders/7' });
  }
  await until(() => isClosed);
});
