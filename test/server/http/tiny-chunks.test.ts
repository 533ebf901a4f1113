import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Listener, listen } from '../../fixtures/listen.ts';
import { openRaw, parseRaw } from '../../fixtures/raw-http.ts';

/** Responds with the number of bytes in the body. Counts the chunks of all bodies. */
let chunks = 0;
const countBytes: RequestListener = (request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    chunks += 1;
    bytes += chunk.length;
  });
  request.on('error', () => {});
  request.on('end', () => response.end(String(bytes)));
};

let listener: Listener;
beforeAll(async () => {
  listener = await listen(countBytes, '127.0.0.1', 0);
});
afterAll(() => listener.close());

const post = (header: string) => `POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${header}\r\n\r\n`;
const chunkedHead = post('transfer-encoding: chunked');
const chunk = (bytes: number, extension = '') =>
  `${bytes.toString(16)}${extension}\r\n${' '.repeat(bytes)}\r\n`;
const lastChunk = '0\r\n\r\n';

/** Sends parts, each as a packet of its own if the network does not join them. @returns all bytes of the response */
async function sendParts(parts: Iterable<string>): Promise<string> {
  chunks = 0;
  const { socket, ended } = await openRaw(listener);
  socket.setNoDelay(true);
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended();
}

describe('a sender loses its connection without a response after it sends', () => {
  test.each<[string, string[]]>([
    ['chunks of one byte in one packet', [chunkedHead + chunk(1).repeat(5_000) + lastChunk]],
    ['chunks of one byte in packets of their own', [chunkedHead, ...Array(5_000).fill(chunk(1)), lastChunk]],
    ['chunks of one byte with extensions', [chunkedHead + chunk(1, ';name=value').repeat(1_300) + lastChunk]],
    ['chunks of 60 bytes', [chunkedHead + chunk(60).repeat(1_500) + lastChunk]],
    [
      'one large chunk, and then chunks of one byte',
      [chunkedHead + chunk(500_000) + chunk(1).repeat(3_000) + lastChunk],
    ],
    ['a body of known length, byte by byte', [post('content-length: 5000'), ...Array(5_000).fill(' ')]],
  ])('%s', async (_what, parts) => {
    expect(await sendParts(parts)).toBe('');
    expect(chunks).toBeLessThan(2_000);
  });
});

describe('a sender gets its response after it sends', () => {
  test.each<[string, string[], number]>([
    ['999 chunks of one byte', [chunkedHead + chunk(1).repeat(999) + lastChunk], 999],
    ['5,000 chunks of 200 bytes', [chunkedHead + chunk(200).repeat(5_000) + lastChunk], 1_000_000],
    [
      'chunks of 10 and 300 bytes in turn',
      [chunkedHead + (chunk(10) + chunk(300)).repeat(2_000) + lastChunk],
      620_000,
    ],
    [
      'packets of 200 bytes',
      [post('content-length: 400000'), ...Array(2_000).fill(' '.repeat(200))],
      400_000,
    ],
  ])('%s', async (_what, parts, bytes) => {
    const { status, body } = parseRaw(await sendParts(parts));
    expect([status, body.split('\r\n').join('')]).toEqual([200, String(bytes)]);
  });
});

test('a thousand small bodies on one connection all get responses', async () => {
  const { socket, received } = await openRaw(listener);
  const request = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}';
  for (let count = 1; count <= 1_200; count += 1) {
    socket.write(request);
    await once(socket, 'data');
  }
  expect(received().split('HTTP/1.1 200')).toHaveLength(1_201);
  socket.destroy();
});

test('a parser whose connection was broken serves later connections', async () => {
  for (let count = 0; count < 20; count += 1)
    expect(await sendParts([chunkedHead + chunk(1).repeat(5_000) + lastChunk])).toBe('');
  const responses = await Promise.all(
    Array.from(
      { length: 40 },
      async () => parseRaw(await sendParts([post('content-length: 5'), 'abcde'])).body,
    ),
  );
  expect(responses).toEqual(Array(40).fill('5'));
});
