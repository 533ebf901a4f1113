import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { organizationQuery } from '../../fixtures/organization-query.ts';
import { openRaw, parseRaw } from '../../fixtures/raw-http.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();

beforeEach(() => waybill.sandbox.requests.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const json = 'content-type: application/json';
const head = (target: string, ...headers: string[]) =>
  `${[`${target} HTTP/1.1`, 'host: a', ...headers].join('\r\n')}\r\n\r\n`;
const length = 'content-length: 900';
const chunked = 'transfer-encoding: chunked';

const refused: [title: string, head: string, status: number][] = [
  ['a path that does not exist', head('POST /nope', json, length), 404],
  ['a path that does not exist, chunked', head('POST /nope', json, chunked), 404],
  ['another method', head('PUT /graphql', json, length), 405],
  ['a method of a health check', head('POST /health/live', json, length), 405],
  ['a body that is too large', head('POST /graphql', json, 'content-length: 2000000'), 413],
  ['a body of another type', head('POST /graphql', 'content-type: text/plain', length), 415],
  ['a label without an access token', head('GET /labels/ca0001.pdf', length), 401],
];

describe('a refused request with an incomplete body', () => {
  test.each(refused)('gets its response before the connection closes: %s', async (_what, head, status) => {
    const { socket, received, ended } = await openRaw(waybill);
    socket.write(head);
    await expect.poll(() => parseRaw(received()).status).toBe(status);
    const response = parseRaw(await ended());
    expect(response.headers.connection).toBe('close');
    expect(JSON.parse(response.body)).toMatchObject({ errors: [{ message: expect.any(String) }] });
    expect(waybill.sandbox.requests.lines()).toEqual([]);
  });

  test.each(refused)('gets its response while the client still sends: %s', async (_what, head, status) => {
    const { socket, ended } = await openRaw(waybill);
    socket.write(head);
    const sending = setInterval(() => socket.write(head.includes(chunked) ? '1\r\n \r\n' : ' '), 1);
    const { status: answered, body } = parseRaw(await ended());
    clearInterval(sending);
    expect(answered).toBe(status);
    expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: expect.any(String) } }] });
  });
});

test('a refused request with a whole body keeps its connection', async () => {
  const { socket, received } = await openRaw(waybill);
  const notJson = `${head('POST /graphql', json, 'content-length: 2')}{[`;
  for (const count of [1, 2, 3]) {
    socket.write(notJson);
    await expect.poll(() => received().split('HTTP/1.1 400').length).toBe(count + 1);
  }
  socket.destroy();
});

test('the refusal of a partial body follows the response to the earlier request', async () => {
  const authorization = `authorization: ${waybill.authorization}`;
  const { socket, ended } = await openRaw(waybill);
  const first =
    head('POST /graphql', json, authorization, `content-length: ${organizationQuery.length}`) +
    organizationQuery;
  socket.write(first + head('POST /nope', json, length));
  const received = await ended();
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404']);
  expect(waybill.sandbox.requests.lines()).toEqual(['GET /v1/organizations/mine']);
});
