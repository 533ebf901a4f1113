import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  InvalidResponseError,
  OutcomeUnknownError,
  ResponseTooLargeError,
} from '../../../src/rest/errors.ts';
import { type Answer, answerText, errorOf, startBench } from '../../fixtures/rest-service.ts';

const order = { name: 'orders/7', notes: 'emoji 🚚, and more of it '.repeat(100) };

function compressed(body: Buffer, encoding: string, status = 200): Answer {
  return (_request, response) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
  };
}

const json = JSON.stringify(order);

describe('an answer that comes compressed', () => {
  test.each([
    ['gzip', gzipSync(json)],
    ['GZIP', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['br', brotliCompressSync(json)],
    ['identity', Buffer.from(json)],
    ['', Buffer.from(json)],
  ])('as %s is read, also where it was not asked for', async (encoding, body) => {
    await using bench = await startBench(compressed(body, encoding));
    const callContext = bench.callContext();
    expect(await bench.api.getOrder('7', callContext)).toEqual(order);
    expect(bench.service.requests[0]?.headers['accept-encoding']).toBeUndefined();
    // As much as came out of it, which is what counts.
    expect(callContext.callLog.entries[0]?.bytes).toBe(Buffer.byteLength(json));
  });

  test('is asked for where that is set', async () => {
    await using bench = await startBench(compressed(gzipSync(json), 'gzip'), { compression: true });
    expect(await bench.api.getOrder('7', bench.callContext())).toEqual(order);
    expect(bench.service.requests[0]?.headers['accept-encoding']).toBe('gzip, br, deflate');
  });

  test('as a refusal says what is wrong', async () => {
    const body = gzipSync(JSON.stringify({ message: 'no such search' }));
    await using bench = await startBench(compressed(body, 'gzip', 400));
    const error = await errorOf(bench.api.listOrders({ pageSize: 1 }, bench.callContext()));
    expect(error.message).toBe('GET /v1/orders answered 400: no such search');
  });

  test.each([
    ['zstd, which is not known', ' '.repeat(300_000), 'zstd', 'in an encoding that is not known'],
    ...['constructor', '__proto__', 'toString'].map((name): [string, string, string, string] => [
      `${name}, which every object has, and more than a connection holds back`,
      ' '.repeat(300_000),
      name,
      'in an encoding that is not known',
    ]),
    ['gzip within gzip', json, 'gzip, gzip', 'in an encoding that is not known'],
    ['gzip, and is not', json, 'gzip', 'something that cannot be decompressed'],
    [
      'gzip, and ends too early',
      gzipSync(json).subarray(0, 40),
      'gzip',
      'something that cannot be decompressed',
    ],
    ['br, and is not', json, 'br', 'something that cannot be decompressed'],
    ['gzip of what is not JSON', gzipSync('<html>'), 'gzip', 'something that is not JSON'],
  ])('as %s is no answer', async (_what, body, encoding, what) => {
    await using bench = await startBench(compressed(Buffer.from(body), encoding), { connections: 1 });
    // Twice, as nothing of the first may keep the connection.
    for (const _time of [1, 2]) {
      const error = await errorOf(bench.api.getOrder('7', bench.callContext()));
      expect(error).toBeInstanceOf(InvalidResponseError);
      expect(error.message).toBe(`GET /v1/orders/7 answered ${what}`);
    }
    const written = await errorOf(bench.api.sendMessage('1', '2', { text: 'a' }, bench.callContext()));
    expect(written).toBeInstanceOf(OutcomeUnknownError);
  });
});

test.each([
  ['gzip', gzipSync(Buffer.alloc(200_000_000))],
  ['br', brotliCompressSync(Buffer.alloc(50_000_000))],
])(
  'a bomb of %s is given up once it passes the limit, and is never whole in memory',
  async (encoding, bomb) => {
    await using bench = await startBench(compressed(bomb, encoding), { maxResponseBytes: 1_000_000 });
    const callContext = bench.callContext();
    const error = await errorOf(bench.api.getOrder('7', callContext));
    expect(error).toBeInstanceOf(ResponseTooLargeError);
    expect(error.message).toBe('GET /v1/orders/7 answered more than 1000000 bytes');
    expect(callContext.callLog.entries[0]?.bytes).toBeLessThan(1_200_000);
  },
);

test('a refusal that is a bomb is a refusal all the same', async () => {
  await using bench = await startBench(compressed(gzipSync(Buffer.alloc(10_000_000)), 'gzip', 503));
  const error = await errorOf(bench.api.getOrder('7', bench.callContext()));
  expect(error.message).toBe('GET /v1/orders/7 answered 503');
});

test('50 MB of JSON are given up once they pass the limit', async () => {
  await using bench = await startBench(
    answerText(JSON.stringify('x'.repeat(50_000_000)), 200, 'application/json'),
    {
      maxResponseBytes: 1_000_000,
    },
  );
  const callContext = bench.callContext();
  expect(await errorOf(bench.api.getOrder('7', callContext))).toBeInstanceOf(ResponseTooLargeError);
  expect(callContext.callLog.entries[0]?.bytes).toBeLessThan(1_200_000);
});
