import { afterAll, beforeEach, expect, test } from 'vitest';
import { organizationAnswer, organizationQuery } from '../../fixtures/organization-query.ts';
import { openRaw, parseRaw } from '../../fixtures/raw-http.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill({ GRAPHQL_REQUESTS_AT_ONCE: '5' }, { bodyBytesAtOnce: 100_000 });
const { sandbox, post } = waybill;

beforeEach(() => sandbox.requests.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const head = (bytes: number) =>
  `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;

test('bodies that arrive a byte at a time do not block other clients', async () => {
  const dripping = await Promise.all(Array.from({ length: 6 }, () => openRaw(waybill)));
  for (const { socket } of dripping) socket.write(`${head(1_000_000)} `);
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const { socket } of dripping) socket.write(' ');
  expect(await post(organizationQuery)).toEqual({ status: 200, body: organizationAnswer });
  for (const { socket, received } of dripping) {
    expect(received()).toBe('');
    socket.destroy();
  }
});

test('a large body is rejected while half-sent bodies use most of the byte limit', async () => {
  const half = await openRaw(waybill);
  half.socket.write(head(1_000_000) + ' '.repeat(90_000));
  const large = organizationQuery.padEnd(60_000, ' ');
  await expect.poll(async () => (await post(large)).status).toBe(503);
  sandbox.requests.clear();

  const refused = await openRaw(waybill);
  refused.socket.write(head(large.length) + large);
  const { status, headers, body } = parseRaw(await refused.ended());
  expect([status, headers['retry-after'], headers.connection]).toEqual([503, '1', 'close']);
  expect(JSON.parse(body)).toEqual({
    errors: [
      {
        message: 'The server is receiving too many request bodies at once. Retry later.',
        extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 },
      },
    ],
  });
  expect(sandbox.requests.lines()).toEqual([]);

  expect(await post(organizationQuery)).toEqual({ status: 200, body: organizationAnswer });
  half.socket.destroy();
  await expect.poll(() => post(large)).toEqual({ status: 200, body: organizationAnswer });
});
