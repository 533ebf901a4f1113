import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { listen } from '../../fixtures/listen.ts';
import { openRaw, parseRaw } from '../../fixtures/raw-http.ts';
import { type Answer, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { sandbox } = waybill;
const authorization = `Bearer ${sandbox.tokens.first}`;

beforeEach(() => sandbox.requests.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const organization = JSON.stringify({ query: '{ organization { id } }' });
const head = (bytes: number) =>
  'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n' +
  `authorization: ${authorization}\r\ncontent-length: ${bytes}\r\n\r\n`;

const tooSlow = {
  errors: [
    {
      message: 'The request arrived too slowly. Send it again.',
      extensions: { code: 'REQUEST_TIMEOUT', retryable: true },
    },
  ],
};

/** Another client of the same server, which is answered meanwhile. */
async function othersAreServed(url: URL) {
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: organization,
  });
  expect(await response.json()).toEqual({ data: { organization: { id: 'organization/cafe-andino' } } });
  sandbox.requests.clear();
}

describe('a slow sender', () => {
  test.each([
    ['sends nothing', ''],
    ['never completes its headers', 'POST /graphql HTTP/1.1\r\nhost: a\r\n'],
  ])('gets 408 without blocking other clients if it %s', async (_what, start) => {
    await using listener = await startWaybill({}, { sandbox, listener: { headersTimeoutMs: 200 } });
    const slow = await openRaw(listener);
    slow.socket.write(start);
    await othersAreServed(listener.url);
    const { status, headers, body } = parseRaw(await slow.ended());
    expect([status, headers.connection]).toEqual([408, 'close']);
    expect(JSON.parse(body)).toEqual(tooSlow);
  });

  test('gets 408 if it sends a header a byte at a time', async () => {
    await using listener = await startWaybill({}, { sandbox, listener: { headersTimeoutMs: 200 } });
    const slow = await openRaw(listener);
    slow.socket.write('GET / HTTP/1.1\r\nx: ');
    const drip = setInterval(() => slow.socket.write('x'), 20);
    expect(parseRaw(await slow.ended()).status).toBe(408);
    clearInterval(drip);
  });

  test('gets 408 without blocking other clients if its body stops', async () => {
    const options = { headersTimeoutMs: 200, requestTimeoutMs: 200 };
    await using listener = await startWaybill({}, { sandbox, listener: options });
    const slow = await openRaw(listener);
    slow.socket.write(head(organization.length) + organization.slice(0, 10));
    await othersAreServed(listener.url);
    const { status, body } = parseRaw(await slow.ended());
    expect(status).toBe(408);
    expect(JSON.parse(body)).toEqual(tooSlow);
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('gets 408 if its body arrives a byte at a time', async () => {
    await using listener = await startWaybill(
      {},
      {
        sandbox,
        listener: {
          requestTimeoutMs: 400,
          headersTimeoutMs: 200,
        },
      },
    );
    const slow = await openRaw(listener);
    slow.socket.write(head(1_000));
    const drip = setInterval(() => slow.socket.write(' '), 20);
    expect(parseRaw(await slow.ended()).status).toBe(408);
    clearInterval(drip);
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('stays connected while its body arrives steadily', async () => {
    await using listener = await startWaybill({}, { sandbox, listener: { headersTimeoutMs: 200 } });
    const steady = await openRaw(listener);
    steady.socket.write(`${head(organization.length + 30_000)}${organization}`);
    for (let count = 0; count < 30; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      steady.socket.write(' '.repeat(1_000));
    }
    await until(() => steady.received().includes('organization/cafe-andino'));
    steady.socket.destroy();
    sandbox.requests.clear();
  });

  test('stays connected while the REST service is slow', async () => {
    await using listener = await startWaybill(
      {},
      {
        sandbox,
        listener: {
          headersTimeoutMs: 100,
          requestTimeoutMs: 200,
          responseTimeoutMs: 100,
        },
      },
    );
    sandbox.faults.add({ kind: 'delay', delayMs: 600, times: 1 });
    const patient = await openRaw(listener);
    patient.socket.write(head(organization.length) + organization);
    await until(() => patient.received().includes('organization/cafe-andino'));
    expect(parseRaw(patient.received()).status).toBe(200);
    patient.socket.destroy();
    sandbox.faults.clear();
  });
});

describe('a slow reader', () => {
  // More than the system's buffers on both sides take.
  const bulky = Buffer.alloc(16_777_216, 'x');

  test('is disconnected without blocking other clients if it reads nothing', async () => {
    let closed = 0;
    const listener = await listen(
      (_request, response) => {
        response.once('close', () => {
          closed += 1;
        });
        response.end(_request.url === '/small' ? 'ok' : bulky);
      },
      '127.0.0.1',
      0,
      { responseTimeoutMs: 300 },
    );
    try {
      const slow = await openRaw(listener);
      slow.socket.pause();
      slow.socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      expect(await (await fetch(new URL('/small', listener.url))).text()).toBe('ok');
      await until(() => closed === 2);
      slow.socket.resume();
      // A part is not taken for the whole.
      expect((await slow.ended()).length).toBeLessThan(bulky.length);
    } finally {
      await listener.close();
    }
  });

  test('that reads nothing of a label makes the server abort the REST call', async () => {
    let held: ServerResponse | undefined;
    const sendForever: Answer = (_request, response) => {
      held = response;
      response.writeHead(200, { 'content-type': 'application/pdf' });
      const pump = () => {
        while (response.write(bulky.subarray(0, 65_536)));
      };
      response.on('drain', pump);
      pump();
    };
    await using waybill = await startApp(sendForever, {}, { responseTimeoutMs: 300 });
    const slow = await openRaw(waybill);
    slow.socket.pause();
    slow.socket.write('GET /labels/a.pdf HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\n\r\n');
    await until(() => held?.closed === true);
    slow.socket.destroy();
    expect(waybill.reported).toEqual([]);
  });

  test('receives the whole response if it reads in time', async () => {
    const listener = await listen((_request, response) => response.end(bulky), '127.0.0.1', 0);
    try {
      const body = await (await fetch(listener.url)).arrayBuffer();
      expect(body.byteLength).toBe(bulky.length);
    } finally {
      await listener.close();
    }
  });
});

test('an idle connection is closed after the keep-alive timeout', async () => {
  await using listener = await startWaybill({}, { sandbox, listener: { keepAliveTimeoutMs: 100 } });
  const idle = await openRaw(listener);
  idle.socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n');
  expect(parseRaw(await idle.ended()).status).toBe(200);
});

test('only connections above the limit are closed', async () => {
  await using listener = await startWaybill({}, { sandbox, listener: { maxConnections: 1 } });
  const served = await openRaw(listener);
  const beyond = await openRaw(listener);
  expect(await beyond.ended()).toBe('');
  served.socket.write('GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  expect(parseRaw(await served.ended()).status).toBe(200);
});
