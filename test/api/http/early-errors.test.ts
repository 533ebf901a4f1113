import { afterAll, expect, test } from 'vitest';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { openRaw, sendRaw } from '../../fixtures/raw-http.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startOffline } from '../../fixtures/start-server.ts';

// None of these requests gets as far as REST.
const { log, lines } = recordedLog('debug');
const telemetry = await startTelemetry({ metrics: true, tracing: false }, log);
const server = await startOffline({ log, telemetry, listener: { headersTimeoutMs: 200, maxConnections: 1 } });
afterAll(() => server[Symbol.asyncDispose]());

/** How often requests of this status have been counted. */
async function counted(status: number | 'none'): Promise<number> {
  const { body = '' } = (await telemetry.metrics?.page()) ?? {};
  const line = new RegExp(`^waybill_early_http_errors_total{status="${status}"} (\\d+)$`, 'm').exec(body);
  return Number(line?.[1] ?? 0);
}

test.each([
  ['an invalid request head', 'nonsense\r\n\r\n', 400, 'BAD_REQUEST', 'The request is not valid HTTP.'],
  [
    'a request without a Host header',
    'GET / HTTP/1.1\r\n\r\n',
    400,
    'BAD_REQUEST',
    'An HTTP/1.1 request needs the header "Host".',
  ],
  [
    'an invalid Host header',
    'GET / HTTP/1.1\r\nhost: a b\r\n\r\n',
    400,
    'BAD_REQUEST',
    'The header "Host" and the request target do not form a URL.',
  ],
  [
    'a header of 20,000 bytes',
    `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'REQUEST_TOO_LARGE',
    'The headers exceed the limit of 16384 bytes. Send fewer or shorter headers.',
  ],
])('%s is rejected, counted and logged', async (_what, request, status, code, message) => {
  const before = await counted(status);
  const answer = await sendRaw(server, request);
  const { 'x-request-id': requestId } = answer.headers;
  expect(answer).toMatchObject({
    status,
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^[\w-]{8}-\w+$/),
    },
  });
  expect(JSON.parse(answer.body)).toEqual({ errors: [{ message, extensions: { code, retryable: false } }] });
  expect((await counted(status)) - before).toBe(1);
  expect(lines().at(-1)).toEqual({
    level: 'debug',
    requestId,
    status,
    errors: { [code]: 1 },
    msg: 'a request or a connection was refused',
  });
});

test('incomplete request heads and connections above the limit are counted and logged', async () => {
  const slow = await openRaw(server);
  slow.socket.write('GET / HTTP/1.1\r\n');
  expect(await (await openRaw(server)).ended()).toBe('');
  await expect.poll(() => counted('none')).toBe(1);
  expect(await slow.ended()).toContain('408 Request Timeout');
  expect(await counted(408)).toBe(1);
  expect(lines().slice(-2)).toMatchObject([
    { errors: { OVERLOADED: 1 }, msg: 'a request or a connection was refused' },
    { status: 408, errors: { REQUEST_TIMEOUT: 1 }, msg: 'a request or a connection was refused' },
  ]);
});

test('an error response repeats the x-request-id that the client sent', async () => {
  const answer = await sendRaw(server, 'GET / HTTP/1.1\r\nx-request-id: mine\r\n\r\n');
  expect(answer.headers['x-request-id']).toBe('mine');
  await until(() => lines().at(-1)?.requestId === 'mine');
});
