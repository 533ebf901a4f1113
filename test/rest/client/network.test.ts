import { getEventListeners } from 'node:events';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  AbortedError,
  DeadlineError,
  InvalidResponseError,
  OutcomeUnknownError,
  UnavailableError,
} from '../../../src/rest/errors.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import {
  type Answer,
  answerAsPromised,
  answerJson,
  errorOf,
  startBench,
  until,
} from '../../fixtures/rest-service.ts';

const order = { name: 'orders/7' };
const never: Answer = () => {};
const text = { text: 'a' };

describe('a deadline', () => {
  test('that passes before any response', async () => {
    await using bench = await startBench(never, { callTimeoutMs: 60 });
    const start = performance.now();
    const error = await errorOf(bench.api.getOrder('7', bench.callContext()));
    expect(error).toBeInstanceOf(DeadlineError);
    expect(error.message).toBe('GET /v1/orders/7 was not answered within 60 ms');
    expect(performance.now() - start).toBeGreaterThanOrEqual(58);
    expect(bench.service.requests).toHaveLength(1);
  });

  test('that passes within the body, although bytes keep arriving', async () => {
    let isClosed = false;
    await using bench = await startBench(
      (_request, response) => {
        const drip = setInterval(() => response.write(' '), 5);
        response.on('close', () => {
          clearInterval(drip);
          isClosed = true;
        });
      },
      { callTimeoutMs: 60 },
    );
    expect(await errorOf(bench.api.getOrder('7', bench.callContext()))).toBeInstanceOf(DeadlineError);
    await until(() => isClosed);
  });

  test('that passes while the call waits for a free connection', async () => {
    await using bench = await startBench(never, { connections: 1, callTimeoutMs: 250 });
    const errors = await Promise.all([
      errorOf(bench.api.getOrder('1', bench.callContext())),
      errorOf(bench.api.getOrder('2', bench.callContext())),
      // The write was not sent, so its outcome is known.
      errorOf(bench.api.sendMessage('1', '2', text, bench.callContext())),
    ]);
    expect(errors.map(({ name }) => name)).toEqual(['DeadlineError', 'DeadlineError', 'DeadlineError']);
    expect(bench.service.lines()).toEqual(['GET /v1/orders/1']);
  });

  test('that passes while the only label connection is busy with another label', async () => {
    await using bench = await startBench(
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/pdf' });
        const drip = setInterval(() => response.write('%'), 10);
        request.socket.on('close', () => clearInterval(drip));
      },
      { connections: 1, callTimeoutMs: 1_000 },
    );
    const label = await bench.api.getLabel('3', bench.callContext());
    label.body.on('error', () => {}).resume();
    const second = await errorOf(bench.api.getLabel('7', bench.callContext()));
    expect(second.name).toBe('DeadlineError');
    expect(label.body.destroyed).toBe(false);
    label.body.destroy();
    expect(bench.service.lines()).toEqual(['GET /v1/shipments/3/label']);
  });

  test.each([
    ['before any response', never],
    ['within the body', (_request, response) => response.writeHead(200).write('{')],
  ] as [string, Answer][])('that passes %s of a write leaves the outcome unknown', async (_when, answer) => {
    await using bench = await startBench(answer, { callTimeoutMs: 60 });
    const error = await errorOf(bench.api.sendMessage('1', '2', text, bench.callContext()));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.cause).toBeInstanceOf(DeadlineError);
    expect(bench.service.requests).toHaveLength(1);
  });

  test('that passes after the response has no effect', async () => {
    await using bench = await startBench(answerJson(order), { callTimeoutMs: 1_000 });
    expect(await bench.api.getOrder('7', bench.callContext())).toEqual(order);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await bench.api.getOrder('7', bench.callContext())).toEqual(order);
  });
});

describe('a connection', () => {
  const resets: [string, Answer][] = [
    ['reset before the headers', (request) => request.socket.resetAndDestroy()],
    ['ended before the headers', (request) => request.socket.end()],
    [
      'reset within the body',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"name":');
        setTimeout(() => request.socket.resetAndDestroy(), 5);
      },
    ],
    [
      'ended before the promised length',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"name":"orders/7"}');
        setTimeout(() => request.socket.end(), 5);
      },
    ],
  ];

  test.each(resets)(
    '%s: a read is unavailable, a write is sent once and has an unknown outcome',
    async (_when, answer) => {
      await using bench = await startBench(answer);
      const read = await errorOf(bench.api.getOrder('7', bench.callContext()));
      expect(read).toBeInstanceOf(UnavailableError);
      expect(read.message).toMatch(/^GET \/v1\/orders\/7 got no answer \([A-Z_]+\)$/);
      expect(read.cause).toBeInstanceOf(Error);
      expect(bench.service.requests).toHaveLength(1);

      const posted = await errorOf(bench.api.sendMessage('1', '2', text, bench.callContext()));
      expect(posted).toBeInstanceOf(OutcomeUnknownError);
      expect(bench.service.requests).toHaveLength(2);

      const update = { order: { notes: 'abc' }, updateMask: ['notes' as const] };
      const patched = await errorOf(bench.api.updateOrder('7', update, bench.callContext()));
      expect(patched).toBeInstanceOf(OutcomeUnknownError);
      expect(patched.message).toBe('PATCH /v1/orders/7 was sent, but no whole answer came');
      expect(bench.service.requests).toHaveLength(3);
    },
  );

  test('refused: nothing was sent, so a write is unavailable too', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await new Promise((resolve) => server.close(resolve));
    await using bench = await startBench(never, { baseUrl: new URL(`http://127.0.0.1:${port}`) });
    for (const call of [
      () => bench.api.getOrder('7', bench.callContext()),
      () => bench.api.sendMessage('1', '2', text, bench.callContext()),
    ]) {
      const error = await errorOf(call());
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error.message).toContain('got no answer (ECONNREFUSED)');
    }
  });

  test('to an unknown host name', async () => {
    await using bench = await startBench(never, { baseUrl: new URL('http://nowhere.invalid') });
    const error = await errorOf(bench.api.sendMessage('1', '2', text, bench.callContext()));
    expect(error).toBeInstanceOf(UnavailableError);
  });

  test('to a server without TLS: nothing was sent', async () => {
    await using bench = await startBench(never);
    const baseUrl = new URL(bench.service.url.href.replace('http:', 'https:'));
    await using secure = await startBench(never, { baseUrl });
    const error = await errorOf(secure.api.sendMessage('1', '2', text, secure.callContext()));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(bench.service.requests).toEqual([]);
  });

  test('that returns something other than HTTP', async () => {
    await using bench = await startBench((request) => request.socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    const error = await errorOf(bench.api.getOrder('7', bench.callContext()));
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error.message).toBe('GET /v1/orders/7 answered something that is not HTTP');
  });

  test('is reused by the next call', async () => {
    // Held until three requests are pending, so that all three connections are in use, however busy the machine is.
    let held: (() => void)[] = [];
    let isHolding = false;
    await using bench = await startBench(
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
    for (let turn = 0; turn < 5; turn += 1) await bench.api.getOrder('7', bench.callContext());
    // The pool may open a second connection while undici still finishes the first request.
    expect(bench.service.connections).toBeLessThanOrEqual(2);
    isHolding = true;
    await Promise.all(
      Array.from({ length: 30 }, (_, id) => bench.api.getOrder(`${id}`, bench.callContext())),
    );
    expect(bench.service.connections).toBe(3);
    expect(bench.service.requests).toHaveLength(35);
  });

  test('that has broken is replaced', async () => {
    let isBroken = true;
    await using bench = await startBench(
      (request, response, body) => {
        if (!isBroken) return answerJson(order)(request, response, body);
        isBroken = false;
        return request.socket.resetAndDestroy();
      },
      { connections: 1 },
    );
    expect(await errorOf(bench.api.getOrder('7', bench.callContext()))).toBeInstanceOf(UnavailableError);
    expect(await bench.api.getOrder('7', bench.callContext())).toEqual(order);
  });
});

describe('an operation that is aborted', () => {
  test('aborts its own calls on the service, but no calls of other operations', async () => {
    const closed: string[] = [];
    await using bench = await startBench((request, response) => {
      response.on('close', () => closed.push(request.url ?? ''));
      if (request.url === '/v1/orders/2') setTimeout(() => response.end('{"name":"orders/2"}'), 30);
    });
    const controller = new AbortController();
    const first = errorOf(bench.api.getOrder('1', bench.callContext(controller.signal)));
    const second = bench.api.getOrder('2', bench.callContext());
    await until(() => bench.service.requests.length === 2);
    controller.abort();
    const error = await first;
    expect(error).toBeInstanceOf(AbortedError);
    expect(error.message).toBe('GET /v1/orders/1 was given up by its caller');
    await until(() => closed.includes('/v1/orders/1'));
    expect(await second).toEqual({ name: 'orders/2' });
  });

  test('within the response body aborts the call', async () => {
    let isClosed = false;
    await using bench = await startBench((_request, response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.write('{"name":');
    });
    const controller = new AbortController();
    const answer = errorOf(bench.api.getOrder('7', bench.callContext(controller.signal)));
    await until(() => bench.service.requests.length === 1);
    setTimeout(() => controller.abort(), 10);
    expect(await answer).toBeInstanceOf(AbortedError);
    await until(() => isClosed);
  });

  test('after a write was sent leaves the outcome unknown', async () => {
    await using bench = await startBench(never);
    const controller = new AbortController();
    const answer = errorOf(bench.api.sendMessage('1', '2', text, bench.callContext(controller.signal)));
    await until(() => bench.service.requests.length === 1);
    controller.abort();
    const error = await answer;
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.cause).toBeInstanceOf(AbortedError);
  });

  test('before the call sends no request', async () => {
    await using bench = await startBench(answerJson(order));
    const callContext = bench.callContext(AbortSignal.abort());
    for (const call of [
      () => bench.api.getOrder('7', callContext),
      () => bench.api.getLabel('7', callContext),
      () => bench.api.sendMessage('1', '2', text, callContext),
    ]) {
      expect(await errorOf(call())).toBeInstanceOf(AbortedError);
    }
    expect(bench.service.connections).toBe(0);
  });

  test('aborts the calls that wait for a slot', async () => {
    await using bench = await startBench(never);
    const controller = new AbortController();
    const callContext = bench.callContext(controller.signal, 2);
    const answers = ['1', '2', '3', '4'].map((id) => errorOf(bench.api.getOrder(id, callContext)));
    await until(() => bench.service.requests.length === 2);
    controller.abort();
    expect((await Promise.all(answers)).map(({ name }) => name)).toEqual(
      Array.from({ length: 4 }, () => 'AbortedError'),
    );
    expect(bench.service.requests).toHaveLength(2);
  });

  test('has no listener on its signal after any outcome of the call', async () => {
    const { signal } = new AbortController();
    const outcomes: Answer[] = [
      answerJson(order),
      answerJson({}, 503),
      answerJson(null),
      (request) => request.socket.resetAndDestroy(),
      never,
    ];
    for (const answer of outcomes) {
      await using bench = await startBench(answer, { callTimeoutMs: 60 });
      const calls = [1, 2, 3].map(() => bench.api.getOrder('7', bench.callContext(signal)));
      await Promise.allSettled([...calls, bench.api.sendMessage('1', '2', text, bench.callContext(signal))]);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
  });
});

test('each operation has its own limit of concurrent calls', async () => {
  const running: Record<string, number> = {};
  const maxRunning: Record<string, number> = {};
  await using bench = await startBench(
    (request, response) => {
      const who = request.headers.authorization ?? '';
      running[who] = (running[who] ?? 0) + 1;
      maxRunning[who] = Math.max(maxRunning[who] ?? 0, running[who]);
      setTimeout(() => {
        running[who] = (running[who] ?? 0) - 1;
        response.end(JSON.stringify({ name: request.url?.replace('/v1/', '') }));
      }, 10);
    },
    { connections: 20 },
  );
  const { signal } = new AbortController();
  const ana = createCallContexts({ callsPerOperation: 3 }).of('ana', signal);
  const eva = createCallContexts({ callsPerOperation: 4 }).of('eva', signal);
  const calls = [ana, eva].flatMap((callContext) =>
    Array.from({ length: 12 }, (_, id) => bench.api.getOrder(`${id}`, callContext)),
  );
  await Promise.all(calls);
  expect(maxRunning).toEqual({ 'Bearer ana': 3, 'Bearer eva': 4 });
  expect(bench.service.requests).toHaveLength(24);
});

test('bytes after the end of a compressed response are aborted and do not keep the connection', async () => {
  const trailing = Buffer.concat([gzipSync(JSON.stringify({ name: 'orders/7' })), Buffer.alloc(1_000)]);
  let isClosed = false;
  await using bench = await startBench(
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
    expect(await bench.api.getOrder('7', bench.callContext())).toEqual({ name: 'orders/7' });
  }
  await until(() => isClosed);
});
