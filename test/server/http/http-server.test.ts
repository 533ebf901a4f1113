import { once } from 'node:events';
import { Agent, get, type RequestListener, type ServerResponse } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { type Listener, listen } from '../../fixtures/listen.ts';
import { until } from '../../fixtures/rest-service.ts';

// A close that waited for a client would take this time.
const { drainGraceMs } = readConfig({});

const answerOk: RequestListener = (_request, response) => response.end('ok');

async function opened(listener: Listener): Promise<Socket> {
  const socket = connect(Number(listener.url.port), '127.0.0.1');
  // Ended by the server, which may look like a reset from here.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Connects until the server does not listen any more. It accepts connections until there is a pause between them. */
async function untilRefused(listener: Listener): Promise<void> {
  const connecting = () =>
    opened(listener).then(
      (socket) => socket.destroy() && 'accepted',
      (error) => error.code,
    );
  await expect.poll(connecting).toBe('ECONNREFUSED');
}

async function closeTimeMs(listener: Listener): Promise<number> {
  const start = performance.now();
  await listener.close();
  return performance.now() - start;
}

describe('the address of the server', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', 'localhost'],
    ['localhost', '(127.0.0.1|\\[::1\\])'],
  ])('is reachable if the host is %s', async (host, shown) => {
    const listener = await listen(answerOk, host, 0);
    try {
      expect(listener.url.href).toMatch(new RegExp(`^http://${shown}:\\d+/$`));
      expect(await (await fetch(listener.url)).text()).toBe('ok');
    } finally {
      await listener.close();
    }
  });

  test('is rejected if the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    try {
      await once(other, 'listening');
      const address = other.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      await expect(listen(answerOk, '127.0.0.1', port)).rejects.toThrow('EADDRINUSE');
    } finally {
      other.close();
    }
  });
});

describe('the shutdown', () => {
  test('waits for a pending request but not for its keep-alive connection', async () => {
    let finish = () => {};
    const listener = await listen(
      (_request, response) => {
        response.write('o');
        finish = () => response.end('k');
      },
      '127.0.0.1',
      0,
    );
    const agent = new Agent({ keepAlive: true });
    const [response] = await once(get(listener.url, { agent }), 'response');
    const closed = closeTimeMs(listener);
    await untilRefused(listener);
    finish();
    expect(await text(response)).toBe('ok');
    expect(await closed).toBeLessThan(drainGraceMs);
    agent.destroy();
  });

  test('does not wait for idle or unused connections', async () => {
    const listener = await listen(answerOk, '127.0.0.1', 0);
    const unused = await opened(listener);
    const idle = await opened(listener);
    idle.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await once(idle, 'data');
    expect(await closeTimeMs(listener)).toBeLessThan(drainGraceMs);
    await until(() => unused.destroyed && idle.destroyed);
  });

  test.each([
    ['the first', ''],
    ['a later', 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'],
  ])('does not wait for the incomplete head of %s request', async (_what, before) => {
    const listener = await listen(answerOk, '127.0.0.1', 0);
    const slow = await opened(listener);
    slow.write(before);
    if (before !== '') await once(slow, 'data');
    slow.write('GET / HTTP/1.1\r\nhost:');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await closeTimeMs(listener)).toBeLessThan(drainGraceMs);
  });

  test('waits a limited time for an incomplete body', async () => {
    const readAll: RequestListener = (request, response) => request.resume().on('end', () => response.end());
    const listener = await listen(readAll, '127.0.0.1', 0, { shutdownRequestTimeoutMs: 300 });
    const slow = await opened(listener);
    const whole = await opened(listener);
    for (const socket of [slow, whole]) {
      socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 900\r\n\r\n');
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    const drip = setInterval(() => slow.write(' '), 20);
    const answers = [slow, whole].map((socket) => text(socket));
    const closed = closeTimeMs(listener);
    whole.write(' '.repeat(900));
    const [late, inTime] = await Promise.all(answers);
    clearInterval(drip);
    expect(late).toContain('408 Request Timeout');
    expect(inTime).toContain('200 OK');
    expect(await closed).toBeLessThan(drainGraceMs);
  });

  test('waits a limited time for a pending request', async () => {
    const listener = await listen(() => {}, '127.0.0.1', 0, { drainGraceMs: 100 });
    const waiting = await opened(listener);
    waiting.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const timeMs = await closeTimeMs(listener);
    expect(timeMs).toBeGreaterThan(90);
    expect(timeMs).toBeLessThan(drainGraceMs);
  });

  test('runs no request after a response that closes the connection', async () => {
    const asked: string[] = [];
    let finish = () => {};
    const listener = await listen(
      ({ url = '' }, response) => {
        asked.push(url);
        finish = () => response.end('ok');
      },
      '127.0.0.1',
      0,
    );
    const client = await opened(listener);
    const received = text(client);
    client.write('GET /first HTTP/1.1\r\nhost: a\r\n\r\n');
    await until(() => asked.length === 1);
    const closed = listener.close();
    client.write('GET /second HTTP/1.1\r\nhost: a\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    finish();
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: close\r\n.*\r\n\r\nok$/s);
    await closed;
    expect(asked).toEqual(['/first']);
  });

  test('lets clients read their responses to the end', async () => {
    const bytes = 20_000_000;
    const listener = await listen((_request, response) => response.end('x'.repeat(bytes)), '127.0.0.1', 0);
    const client = await opened(listener);
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    let received = 0;
    await once(client, 'readable');
    const closed = listener.close();
    await untilRefused(listener);
    for await (const chunk of client) received += chunk.length;
    expect(received).toBeGreaterThan(bytes);
    await closed;
  });
});

describe('a pipelined request', () => {
  test.each([['two Host headers', 'GET /first HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n', '400 Bad Request']])(
    'does not run if an earlier request was rejected for %s',
    async (_what, first, status) => {
      const asked: (string | undefined)[] = [];
      const listener = await listen(
        ({ url }, response) => {
          asked.push(url);
          response.end();
        },
        '127.0.0.1',
        0,
      );
      const client = await opened(listener);
      client.write(`${first}GET /second HTTP/1.1\r\nhost: a\r\n\r\nGET /third HTTP/1.1\r\nhost: a\r\n\r\n`);
      const received = await text(client);
      expect(received.match(/HTTP\/1\.1 .*/g)).toEqual([`HTTP/1.1 ${status}`]);
      expect(received).toMatch(/\r\nconnection: close\r\n/i);
      expect(asked).toEqual([]);
      await listener.close();
    },
  );

  test('gets no timeout response while an earlier request is pending', async () => {
    const listener = await listen(() => {}, '127.0.0.1', 0, { headersTimeoutMs: 100, requestTimeoutMs: 100 });
    const client = await opened(listener);
    client.write('GET /first HTTP/1.1\r\nhost: a\r\n\r\n');
    client.write('POST /second HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n');
    expect(await text(client)).toBe('');
    await listener.close();
  });

  test('is rejected after the response to an earlier request if it is not HTTP', async () => {
    let finish = () => {};
    const listener = await listen(
      (_request, response) => (finish = () => response.end('first')),
      '127.0.0.1',
      0,
    );
    const client = await opened(listener);
    const received = text(client);
    client.write('GET /first HTTP/1.1\r\nhost: a\r\n\r\nNOT HTTP\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
    client.write('more');
    await new Promise((resolve) => setTimeout(resolve, 20));
    finish();
    expect((await received).match(/HTTP\/1\.1 .*|first/g)).toEqual([
      'HTTP/1.1 200 OK',
      'first',
      'HTTP/1.1 400 Bad Request',
    ]);
    await listener.close();
  });
});

test('a connection that the kernel accepted before the shutdown gets its response', async () => {
  const listener = await listen(answerOk, '127.0.0.1', 0);
  const port = Number(listener.url.port);
  const outcomes = Array.from({ length: 80 }, async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    return text(socket).then(
      (response) => response.slice(0, 15),
      (error: NodeJS.ErrnoException) => error.code,
    );
  });
  // The sockets connect in the next tick. The server accepts them later in this round.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await listener.close();
  expect(await Promise.all(outcomes)).toEqual(Array(80).fill('HTTP/1.1 200 OK'));
});

describe('pipelined requests', () => {
  /** Answers each request with its path after this time, when its body has been read. */
  function createCountingApp(responseMs = 5) {
    const app = { running: 0, mostRunning: 0, sockets: new Set<Socket>(), listener: answerOk };
    app.listener = async (request, response) => {
      app.running += 1;
      app.mostRunning = Math.max(app.mostRunning, app.running);
      app.sockets.add(request.socket);
      await text(request);
      await new Promise((resolve) => setTimeout(resolve, responseMs));
      app.running -= 1;
      response.end(`${request.url};`);
    };
    return app;
  }

  test.each([
    ['without a body', (index: number) => `GET /${index} HTTP/1.1\r\nhost: a\r\n\r\n`],
    [
      'with a body of 2 KB',
      (index: number) =>
        `POST /${index} HTTP/1.1\r\nhost: a\r\ncontent-length: 2000\r\n\r\n${'x'.repeat(2_000)}`,
    ],
  ])('run at most 10, and the connection closes after the tenth response: %s', async (_what, requestAt) => {
    const app = createCountingApp(150);
    // The eleventh request is incomplete for longer than this time.
    const listener = await listen(app.listener, '127.0.0.1', 0, { headersTimeoutMs: 100 });
    const socket = await opened(listener);
    socket.write(Array.from({ length: 80 }, (_, index) => requestAt(index)).join(''));
    const received = await text(socket);
    expect(app.mostRunning).toBe(10);
    expect(received.match(/\/\d+;|Connection: close/g)).toEqual([
      ...Array.from({ length: 9 }, (_, index) => `/${index};`),
      'Connection: close',
      '/9;',
    ]);
    expect(received.match(/HTTP/g)).toHaveLength(10);
    await listener.close();
  });

  test('cause no connection reset before the client has read the tenth response', async () => {
    const listener = await listen(createCountingApp().listener, '127.0.0.1', 0);
    const socket = connect({ port: Number(listener.url.port), host: '127.0.0.1', allowHalfOpen: true });
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    socket.write('GET /a HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(11));
    expect(await text(socket)).toMatch(/(?:\/a;.*){10}/s);
    for (let count = 0; count < 4; count += 1) {
      socket.write('more');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(errors).toEqual([]);
    socket.destroy();
    await listener.close();
  });

  test('are not read while 10 requests run', async () => {
    const app = createCountingApp();
    const listener = await listen(
      (request) => {
        app.running += 1;
        app.sockets.add(request.socket);
        request.resume();
      },
      '127.0.0.1',
      0,
    );
    const socket = await opened(listener);
    const request = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2000\r\n\r\n${'x'.repeat(2_000)}`;
    socket.write(request.repeat(5_000));
    await until(() => app.running === 10);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(app.running).toBe(10);
    for (const { bytesRead } of app.sockets) expect(bytesRead).toBeLessThan(200_000);
    // The server does not see the end of a connection that it does not read.
    for (const serverSocket of app.sockets) serverSocket.destroy();
    socket.destroy();
    await listener.close();
  });

  test('do not run after their connection is closed', async () => {
    const responses: ServerResponse[] = [];
    const listener = await listen(
      (_request, response) => {
        responses.push(response);
      },
      '127.0.0.1',
      0,
    );
    const socket = await opened(listener);
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(12));
    await until(() => responses.length === 10);
    const [first] = responses;
    if (first !== undefined) first.shouldKeepAlive = false;
    first?.end();
    socket.resume();
    await once(socket, 'close');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(responses).toHaveLength(10);
    await listener.close();
  });
});
