import { execFile } from 'node:child_process';
import { type IncomingHttpHeaders, type RequestListener, request } from 'node:http';
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompressSync, createBrotliCompress, createGzip, gunzipSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../src/telemetry/log.ts';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { until } from '../../fixtures/rest-service.ts';
import { type StartAppOptions, startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

const telemetry = await startTelemetry({ metrics: true, tracing: false }, silentLog);
const waybill = await startWaybill({}, { telemetry });

afterAll(async () => {
  await waybill[Symbol.asyncDispose]();
});

interface Received {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Sends a request, and decodes nothing. */
async function send(
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', body, to = waybill }: { method?: string; body?: string; to?: { url: URL } } = {},
): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const sent = request(new URL(path, to.url), {
    method,
    headers: { authorization: `Bearer ${waybill.sandbox.tokens.first}`, ...headers },
  });
  sent.on('error', reject);
  sent.on('response', async (response) => {
    const chunks = await response.toArray();
    resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) });
  });
  sent.end(body);
  return promise;
}

const post = (query: string, headers: Record<string, string> = {}, to: { url: URL } = waybill) =>
  send(
    '/graphql',
    { 'content-type': 'application/json', ...headers },
    { method: 'POST', body: JSON.stringify({ query }), to },
  );

const codings = ['br', 'gzip'] as const;
const decoders = { br: brotliDecompressSync, gzip: gunzipSync };

/** Counts what is compressed by each coding. Node's client decompresses nothing by itself. */
function spyOnZlib() {
  const prototypeOf = (stream: Transform): Transform => Object.getPrototypeOf(stream);
  return {
    br: vi.spyOn(prototypeOf(createBrotliCompress()), '_transform'),
    gzip: vi.spyOn(prototypeOf(createGzip()), '_transform'),
  };
}

const wrongFields = `{ ${Array.from({ length: 5 }, (_, index) => `wrong${index}${'x'.repeat(200)}`).join(' ')} }`;

const orders = (first: number) =>
  `{ orders(first: ${first}) { nodes { id status createTime notes contentDescription recipient { fullName phoneNumber } } } }`;

describe.each(codings)('compression with %s', (coding) => {
  const accept = { 'accept-encoding': coding };

  test.each<[string, () => Promise<Received>, () => Promise<Received>]>([
    ['a fast-path response', () => post(orders(50), accept), () => post(orders(50))],
    [
      'a GET response',
      () => send(`/graphql?query=${encodeURIComponent(orders(50))}`, accept),
      () => send(`/graphql?query=${encodeURIComponent(orders(50))}`),
    ],
    ['an introspection', () => post(getIntrospectionQuery(), accept), () => post(getIntrospectionQuery())],
    ['an error response', () => post(wrongFields, accept), () => post(wrongFields)],
  ])('preserves the content of %s', async (_what, sendCompressed, sendPlain) => {
    await sendPlain();
    const plain = await sendPlain();
    const compressed = await sendCompressed();
    expect(plain.bytes.length).toBeGreaterThanOrEqual(1_024);
    expect(decoders[coding](compressed.bytes).toString()).toBe(plain.bytes.toString());
    expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(compressed.status).toBe(plain.status);

    const { date: _date, 'x-request-id': _id, 'content-length': plainLength, ...headers } = plain.headers;
    expect(compressed.headers).toMatchObject({
      ...headers,
      'content-encoding': coding,
      'content-length': String(compressed.bytes.length),
    });
    expect(plainLength).toBe(String(plain.bytes.length));
    expect(headers.vary).toMatch(/^(accept, )?accept-encoding$/);
    expect(headers).not.toHaveProperty('content-encoding');
  });

  test('reduces 1,000 orders to at most 40 KB', async () => {
    const { bytes } = await post(orders(1_000), accept);
    expect(decoders[coding](bytes).length).toBeGreaterThan(200_000);
    expect(bytes.length).toBeLessThanOrEqual(40_000);
  });

  test('preserves the content of the metrics page', async () => {
    const { bytes, headers } = await send('/metrics', accept);
    expect(headers['content-encoding']).toBe(coding);
    expect(decoders[coding](bytes).toString()).toContain('# HELP waybill_');
  });

  test('skips labels, health checks and responses below 1,024 bytes', async () => {
    const zlib = spyOnZlib();
    const one = '{ orders(first: 1) { nodes { id } } }';
    const received = [
      await send('/labels/ca0001.pdf', accept),
      await send('/health/live', accept),
      await send('/nothing', accept),
      await post(one, accept),
      await post(one, accept),
    ];
    expect(received.map(({ status }) => status)).toEqual([200, 200, 404, 200, 200]);
    for (const { headers } of received) {
      expect(headers).not.toHaveProperty('content-encoding');
      expect(headers.vary).toBe('accept-encoding');
    }
    expect(received[0]?.bytes.subarray(0, 5).toString()).toBe('%PDF-');
    expect(received[0]?.bytes.length).toBeGreaterThan(1_024);
    expect(zlib.br).not.toHaveBeenCalled();
    expect(zlib.gzip).not.toHaveBeenCalled();
  });

  test('gives a HEAD response the same headers as a GET response', async () => {
    const headers = { accept: 'text/html', ...accept };
    const whole = await send('/graphql', headers);
    const head = await send('/graphql', headers, { method: 'HEAD' });
    expect(head.bytes.length).toBe(0);
    for (const name of ['content-encoding', 'content-length', 'content-type', 'vary']) {
      expect(head.headers[name], name).toBe(whole.headers[name]);
    }
    expect((await send('/labels/ca0001.pdf', accept, { method: 'HEAD' })).headers).not.toHaveProperty(
      'content-encoding',
    );
  });

  test('falls back to the plain response and reports the error if zlib fails', async () => {
    await using failing = await startWithLongOrder();
    const { reported } = failing;
    const query = '{ order(id: "a1") { contentDescription } }';
    const plain = await post(query, {}, failing);
    const zlib = spyOnZlib();
    zlib[coding].mockImplementation((_chunk, _encoding, callback) => callback(new Error('no memory')));
    const received = [
      // The first is Yoga's, the second the fast path's.
      await post(`${query} `, accept, failing),
      await post(query, accept, failing),
    ];
    expect(received.map(({ status }) => status)).toEqual([200, 200]);
    for (const { headers, bytes } of received) {
      expect(headers).not.toHaveProperty('content-encoding');
      expect(headers['content-length']).toBe(String(bytes.length));
    }
    expect(received.map(({ bytes }) => bytes.toString())).toEqual(Array(2).fill(plain.bytes.toString()));
    expect(reported).toEqual(Array(2).fill(new Error('no memory')));
  });

  test('skips a response whose client has disconnected', async () => {
    const { promise: isAsked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    const { log, lines } = recordedLog('info');
    const { promise: isClosed, resolve: onClose } = Promise.withResolvers<void>();
    const intercept =
      (app: RequestListener): RequestListener =>
      (request, response) => {
        response.on('close', onClose);
        app(request, response);
      };
    await using slow = await startWithLongOrder({ log, intercept }, () => {
      onAsked();
      return mayAnswer;
    });
    const zlib = spyOnZlib();
    const gone = new AbortController();
    // A mutation is finished for a client that has gone, too.
    const update =
      'mutation { updateOrder(input: { id: "a1", notes: "Timbre" }) { ... on UpdateOrderSuccess { order { contentDescription } } } }';
    const response = fetch(new URL('/graphql', slow.url), {
      method: 'POST',
      headers: { authorization: 'Bearer token', 'content-type': 'application/json', ...accept },
      body: JSON.stringify({ query: update }),
      signal: gone.signal,
    });
    await isAsked;
    gone.abort();
    await expect(response).rejects.toThrow('abort');
    await isClosed;
    answer();
    const answered = () => lines().filter(({ msg }) => msg === 'a request ended');
    await until(() => answered().length > 0);
    expect(answered()).toMatchObject([{ aborted: true, status: 200, calls: 1 }]);
    expect(zlib[coding]).not.toHaveBeenCalled();
  });
});

/** A server with one long order. REST answers after `beforeAnswer`. */
async function startWithLongOrder(options: StartAppOptions = {}, beforeAnswer = async () => {}) {
  const waybill = await startApp(
    async (_request, response) => {
      await beforeAnswer();
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ name: 'orders/a1', contentDescription: 'Camisetas de algodón '.repeat(100) }));
    },
    {},
    options,
  );
  return waybill;
}

test('COMPRESSION=no disables compression and removes accept-encoding from "vary"', async () => {
  await using off = await startWaybill(
    { COMPRESSION: 'no', CORS_ORIGINS: 'https://shop.example' },
    { sandbox: waybill.sandbox },
  );
  const accept = { 'accept-encoding': 'gzip, br' };
  const page = await send('/graphql', { accept: 'text/html', ...accept }, { to: off });
  const [, style] = /(graphiql\/style-\w+\.css)/.exec(page.bytes.toString()) ?? [];
  for (const { headers, bytes } of [
    page,
    await send(`/${style}`, accept, { to: off }),
    await post(orders(50), accept, off),
    await post(orders(50), accept, off),
  ]) {
    expect(bytes.length).toBeGreaterThan(1_024);
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(headers.vary).toMatch(/^(accept, )?origin$/);
  }
});

test('the header "vary" lists origin and accept-encoding if CORS_ORIGINS is set', async () => {
  await using open = await startWaybill(
    { CORS_ORIGINS: 'https://shop.example' },
    { sandbox: waybill.sandbox },
  );
  for (const acceptEncoding of ['gzip', 'identity']) {
    const headers = { 'accept-encoding': acceptEncoding, origin: 'https://shop.example' };
    for (const received of [await post(orders(50), headers, open), await post(orders(50), headers, open)]) {
      expect(received.headers.vary).toBe('origin, accept-encoding');
      expect(received.headers['access-control-allow-origin']).toBe('https://shop.example');
    }
  }
});

test('fetch and curl get the same JSON as a client without compression', async () => {
  const plain = JSON.parse((await post(orders(50))).bytes.toString());
  const body = JSON.stringify({ query: orders(50) });
  const authorization = `Bearer ${waybill.sandbox.tokens.first}`;
  const url = new URL('/graphql', waybill.url);
  const init = { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body };
  const fetched = await fetch(url, init);
  expect(fetched.headers.get('content-encoding')).toMatch(/^(br|gzip)$/);
  expect(await fetched.json()).toEqual(plain);

  const { stdout } = await promisify(execFile)('curl', [
    '--silent',
    '--compressed',
    '--header',
    `authorization: ${authorization}`,
    '--header',
    'content-type: application/json',
    '--data',
    body,
    url.href,
  ]);
  expect(JSON.parse(stdout)).toEqual(plain);
});
