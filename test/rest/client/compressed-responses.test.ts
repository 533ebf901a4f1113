import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { maxResponseBytes } from '../../../src/rest/client/http-exchange.ts';
import {
  InvalidResponseError,
  OutcomeUnknownError,
  ResponseTooLargeError,
} from '../../../src/rest/errors.ts';
import { type Answer, answerText, errorOf, startRestClient } from '../../fixtures/rest-service.ts';

const order = { name: 'orders/7', notes: 'emoji 🚚, and more of it '.repeat(100) };

function compressed(body: Buffer, encoding: string, status = 200): Answer {
  return (_request, response) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
  };
}

const json = JSON.stringify(order);

describe('a compressed response', () => {
  test.each([
    ['gzip', gzipSync(json)],
    ['GZIP', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    ['gzip, identity', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['Deflate', deflateSync(json, { level: 0 })],
    ['deflate', deflateRawSync(json)],
    ['deflate', deflateRawSync(json, { level: 0 })],
    ['DEFLATE', deflateRawSync(json, { level: 9 })],
    ['br', brotliCompressSync(json)],
    ['identity', Buffer.from(json)],
    ['', Buffer.from(json)],
    ...['IDENTITY', 'utf-8', 'UTF8', 'binary', 'none', 'null', '8bit', 'chunked', 'aws-chunked', ','].map(
      (name): [string, Buffer] => [name, Buffer.from(json)],
    ),
  ])('is decoded even if its encoding "%s" was not requested', async (encoding, body) => {
    await using rest = await startRestClient(compressed(body, encoding));
    const callContext = rest.callContext();
    expect(await rest.api.getOrder('7', callContext)).toEqual(order);
    expect(rest.service.requests[0]?.headers['accept-encoding']).toBeUndefined();
    // The decompressed size.
    expect(callContext.callLog.entries[0]?.bytes).toBe(Buffer.byteLength(json));
  });

  test('is requested if compression is on', async () => {
    await using rest = await startRestClient(compressed(gzipSync(json), 'gzip'), { compression: true });
    expect(await rest.api.getOrder('7', rest.callContext())).toEqual(order);
    expect(rest.service.requests[0]?.headers['accept-encoding']).toBe('gzip, br, deflate');
  });

  test('keeps its message if it is an HTTP error', async () => {
    const body = gzipSync(JSON.stringify({ message: 'no such search' }));
    await using rest = await startRestClient(compressed(body, 'gzip', 400));
    const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
    expect(error.message).toBe('GET /v1/orders/7 returned 400: no such search');
  });

  test.each([
    ['zstd, which is unknown', ' '.repeat(300_000), 'zstd', 'a body with an unknown encoding'],
    ['compress, which is unknown', json, 'compress', 'a body with an unknown encoding'],
    ['zstd after identity', json, 'identity, zstd', 'a body with an unknown encoding'],
    // Names of properties that every object has, and no codings.
    ...['constructor', '__proto__', 'toString'].map((name): [string, string, string, string] => [
      `${name}, and the content is not JSON`,
      ' '.repeat(300_000),
      name,
      'no JSON',
    ]),
    ['deflate, but the body is not deflate', json, 'deflate', 'a body that cannot be decompressed'],
    [
      'deflate, but the raw body is truncated',
      deflateRawSync(json).subarray(0, 40),
      'deflate',
      'a body that cannot be decompressed',
    ],
    ['gzip twice', json, 'gzip, gzip', 'a body with an unknown encoding'],
    ['gzip, but the body is not gzip', json, 'gzip', 'a body that cannot be decompressed'],
    [
      'gzip, but the body is truncated',
      gzipSync(json).subarray(0, 40),
      'gzip',
      'a body that cannot be decompressed',
    ],
    ['br, but the body is not br', json, 'br', 'a body that cannot be decompressed'],
    ['gzip, but the content is not JSON', gzipSync('<html>'), 'gzip', 'no JSON'],
  ])('is invalid if its encoding is %s', async (_what, body, encoding, message) => {
    await using rest = await startRestClient(compressed(Buffer.from(body), encoding), { connections: 1 });
    // Twice: the first response must not keep the only connection busy.
    for (const _time of [1, 2]) {
      const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect(error.message).toBe(`GET /v1/orders/7 returned ${message}`);
    }
    const written = await errorOf(rest.api.sendMessage('1', '2', { text: 'a' }, rest.callContext()));
    expect(written).toBeInstanceOf(OutcomeUnknownError);
  });
});

test.each([
  ['gzip', gzipSync(Buffer.alloc(200_000_000))],
  ['br', brotliCompressSync(Buffer.alloc(50_000_000))],
])('a decompression bomb in %s is aborted at the size limit', async (encoding, bomb) => {
  await using rest = await startRestClient(compressed(bomb, encoding));
  const callContext = rest.callContext();
  const error = await errorOf(rest.api.getOrder('7', callContext));
  expect(error).toBeInstanceOf(ResponseTooLargeError);
  expect(error.message).toBe('GET /v1/orders/7 returned more than 16777216 bytes');
  expect(callContext.callLog.entries[0]?.bytes).toBeLessThan(1.1 * maxResponseBytes);
});

test('an HTTP error keeps its status if its body is a decompression bomb', async () => {
  await using rest = await startRestClient(compressed(gzipSync(Buffer.alloc(10_000_000)), 'gzip', 503));
  const error = await errorOf(rest.api.getOrder('7', rest.callContext()));
  expect(error.message).toBe('GET /v1/orders/7 returned 503');
});

test('an uncompressed response of 50 MB is aborted at the size limit', async () => {
  await using rest = await startRestClient(
    answerText(JSON.stringify('x'.repeat(50_000_000)), 200, 'application/json'),
  );
  const callContext = rest.callContext();
  expect(await errorOf(rest.api.getOrder('7', callContext))).toBeInstanceOf(ResponseTooLargeError);
  expect(callContext.callLog.entries[0]?.bytes).toBeLessThan(1.1 * maxResponseBytes);
});
