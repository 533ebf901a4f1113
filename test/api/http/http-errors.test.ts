import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { organizationAnswer, organizationQuery } from '../../fixtures/organization-query.ts';
import { openRaw, sendRaw } from '../../fixtures/raw-http.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startWaybill } from '../../harness.ts';

const maxBytes = 4_096;
const waybill = await startWaybill({}, { maxBodyBytes: maxBytes });
const { sandbox, authorization, post } = waybill;

beforeEach(() => sandbox.requests.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

const refusal = (code: string, message: string) => ({
  errors: [{ message, extensions: { code, retryable: false } }],
});

const head = (...lines: string[]) =>
  `${['POST /graphql HTTP/1.1', 'host: a', `authorization: ${authorization}`, ...lines].join('\r\n')}\r\n\r\n`;
const json = 'content-type: application/json';

async function othersAreServed() {
  expect(await post(organizationQuery)).toEqual({ status: 200, body: organizationAnswer });
}

describe('the check of the body size', () => {
  test('rejects a Content-Length over the limit before the body arrives', async () => {
    const { status, headers, body } = await sendRaw(waybill, head(json, `content-length: ${maxBytes + 1}`));
    expect([status, headers.connection]).toEqual([413, 'close']);
    expect(JSON.parse(body)).toEqual(
      refusal('REQUEST_TOO_LARGE', 'The body exceeds the limit of 4096 bytes. Send a smaller body.'),
    );
    expect(sandbox.requests.lines()).toEqual([]);
    await othersAreServed();
  });

  test('does not reset the connection while a client still sends a body over the limit', async () => {
    const socket = connect({ port: Number(waybill.url.port), host: '127.0.0.1', allowHalfOpen: true });
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    socket.write(head(json, `content-length: ${maxBytes + 1}`));
    expect(await text(socket)).toContain(' 413 ');
    for (let count = 0; count < 4; count += 1) {
      socket.write('x'.repeat(1_000));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(errors).toEqual([]);
    socket.destroy();
  });

  test('rejects Expect: 100-continue if the Content-Length is over the limit', async () => {
    const expecting = head(json, 'content-length: 999999', 'expect: 100-continue');
    expect((await sendRaw(waybill, expecting)).status).toBe(413);
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('sends 100 Continue if the Content-Length is within the limit', async () => {
    const { socket, received } = await openRaw(waybill);
    socket.write(head(json, `content-length: ${organizationQuery.length}`, 'expect: 100-continue'));
    await until(() => received().includes('100 Continue'));
    socket.write(organizationQuery);
    await until(() => received().includes('organization/cafe-andino'));
    socket.destroy();
  });

  test.each([
    ['two Content-Length headers', ['content-length: 5', 'content-length: 6']],
    ['both Content-Length and Transfer-Encoding', ['content-length: 5', 'transfer-encoding: chunked']],
    ['an invalid Content-Length', ['content-length: 5x']],
    ['a negative Content-Length', ['content-length: -1']],
  ])('rejects a body of ambiguous size: %s', async (_what, lines) => {
    const { status, body } = await sendRaw(waybill, `${head(json, ...lines)}0\r\n\r\n`);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toEqual(refusal('BAD_REQUEST', 'The request is not valid HTTP.'));
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test.each([['gzip, chunked'], ['identity, chunked'], ['Identity', 'chunked']])(
    'rejects the transfer coding "%s" and closes the connection',
    async (...codings) => {
      const lines = codings.map((coding) => `transfer-encoding: ${coding}`);
      const length = organizationQuery.length.toString(16);
      const request = `${head(json, ...lines)}${length}\r\n${organizationQuery}\r\n0\r\n\r\n`;
      const { status, headers, body } = await sendRaw(waybill, request);
      expect([status, headers.connection]).toEqual([400, 'close']);
      expect(JSON.parse(body)).toEqual(
        refusal(
          'BAD_REQUEST',
          'The only supported "Transfer-Encoding" is "chunked". Send the body without other codings.',
        ),
      );
      expect(sandbox.requests.lines()).toEqual([]);
    },
  );

  test('accepts the transfer coding "Chunked"', async () => {
    const length = organizationQuery.length.toString(16);
    const coding = head(json, 'transfer-encoding: Chunked', 'connection: close');
    const { body } = await sendRaw(waybill, `${coding}${length}\r\n${organizationQuery}\r\n0\r\n\r\n`);
    expect(body).toContain('organization/cafe-andino');
  });

  test('rejects a chunked body over the limit while it arrives', async () => {
    const chunk = `800\r\n${'x'.repeat(0x800)}\r\n`;
    const { status, headers, body } = await sendRaw(
      waybill,
      head(json, 'transfer-encoding: chunked'),
      chunk.repeat(40),
    );
    expect([status, headers.connection]).toEqual([413, 'close']);
    expect(JSON.parse(body)).toEqual(
      refusal('REQUEST_TOO_LARGE', 'The body exceeds the limit of 4096 bytes. Send a smaller body.'),
    );
    expect(sandbox.requests.lines()).toEqual([]);
    await othersAreServed();
  });

  test('stops reading a chunked body that exceeds the limit', async () => {
    const { socket, ended } = await openRaw(waybill);
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    socket.write(head(json, 'transfer-encoding: chunked'));
    const more = setInterval(() => socket.write(chunk), 1);
    try {
      expect(await ended()).toContain(' 413 ');
    } finally {
      clearInterval(more);
    }
  });

  test('rejects bytes beyond the Content-Length as an invalid request', async () => {
    const { socket, ended } = await openRaw(waybill);
    socket.write(head(json, `content-length: ${organizationQuery.length}`));
    socket.write(organizationQuery + 'x'.repeat(2 * maxBytes));
    const statuses = [...(await ended()).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    // What has been begun may be lost with the connection, but nothing else is ever answered.
    expect([['400'], ['200', '400']]).toContainEqual(statuses);
    await othersAreServed();
  });

  test('accepts a body at the limit', async () => {
    const body = organizationQuery.padEnd(maxBytes, ' ');
    expect(await post(body)).toEqual({ status: 200, body: organizationAnswer });
    expect((await post(`${body} `)).status).toBe(413);
  });
});

test.each(['POST /graphql', 'GET /labels/ca0001.pdf', 'GET /health/live'])(
  'two equal Host headers are rejected: %s',
  async (target) => {
    const request = head(json, 'Host: a', `content-length: ${organizationQuery.length}`) + organizationQuery;
    const { status, headers, body } = await sendRaw(waybill, request.replace('POST /graphql', target));
    expect([status, headers.connection]).toEqual([400, 'close']);
    expect(JSON.parse(body)).toEqual(
      refusal('BAD_REQUEST', 'The request has several "Host" headers. Send one.'),
    );
    expect(sandbox.requests.lines()).toEqual([]);
  },
);

describe('the content type of a body', () => {
  const mustBeJson = 'The body must be JSON in UTF-8. Send the header "content-type: application/json".';
  const multipart =
    '--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query":"{ organization { id } }"}\r\n';

  test.each([
    ['text/plain', 'text/plain', organizationQuery],
    ['an HTML form', 'application/x-www-form-urlencoded', 'query=%7B+organization+%7B+id+%7D+%7D'],
    ['malformed multipart', 'multipart/form-data; boundary=x', multipart],
    ['multipart without a boundary', 'multipart/form-data', multipart],
    ['a GraphQL document', 'application/graphql', '{ organization { id } }'],
    ['JSON in ISO-8859-1', 'application/json; charset=iso-8859-1', organizationQuery],
    ['JSON in UTF-16, with another parameter', 'application/json; a=b; charset="utf-16"', organizationQuery],
    ['a list of two types', 'application/json, text/plain', organizationQuery],
    ['an empty type', '', organizationQuery],
  ])('is rejected: %s', async (_what, contentType, body) => {
    expect(await post(body, { 'content-type': contentType })).toEqual({
      status: 415,
      body: refusal('UNSUPPORTED_MEDIA_TYPE', mustBeJson),
    });
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('is required', async () => {
    const request =
      head('connection: close', `content-length: ${organizationQuery.length}`) + organizationQuery;
    const { status, body } = await sendRaw(waybill, request);
    expect(status).toBe(415);
    expect(JSON.parse(body)).toEqual(refusal('UNSUPPORTED_MEDIA_TYPE', mustBeJson));
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test.each(['Application/JSON', 'application/json ; charset=utf-8', 'application/json;charset="UTF-8"'])(
    'is accepted: %s',
    async (contentType) => {
      expect(await post(organizationQuery, { 'content-type': contentType })).toEqual({
        status: 200,
        body: organizationAnswer,
      });
    },
  );
});

test.each(['gzip', 'br', 'GZIP', 'identity, gzip'])(
  'a body with the content-encoding %s is rejected',
  async (encoding) => {
    const body = gzipSync(organizationQuery);
    expect(await post(body, { 'content-type': 'application/json', 'content-encoding': encoding })).toEqual({
      status: 415,
      body: refusal(
        'UNSUPPORTED_MEDIA_TYPE',
        'Compressed bodies are not supported. Send the body without the header "content-encoding".',
      ),
    });
    expect(sandbox.requests.lines()).toEqual([]);
  },
);

describe('an invalid body', () => {
  const severalOperations =
    'The body must be one JSON object, not a list. Send each operation in its own request, or combine all fields in one ' +
    'operation with aliases.';
  test.each([
    ['a list of requests', `[${organizationQuery},${organizationQuery}]`, severalOperations],
    ['an empty list', '[]', severalOperations],
    ['a list of null', '[null]', severalOperations],
    [
      'not UTF-8',
      Buffer.from('{"query":"{ a }","x":"\xe9"}', 'latin1'),
      'The body is not valid UTF-8. Encode the JSON in UTF-8 and send the request again.',
    ],
    ['JSON null', 'null', 'The body must be a JSON object, but its type is null.'],
  ])('is rejected if it is %s', async (_what, body, message) => {
    expect(await post(body)).toEqual({ status: 400, body: refusal('BAD_REQUEST', message) });
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test.each([
    ['lists', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ])('causes no internal error if its variables are 20,000 nested %s', async (_what, deep) => {
    await using roomy = await startWaybill();
    for (const query of [
      'query ($id: ID!) { order(id: $id) { id } }',
      'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }',
    ]) {
      const response = await roomy.fetch('/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${roomy.sandbox.tokens.first}`,
        },
        body: `{"query":${JSON.stringify(query)},"variables":{"id":${deep},"ids":${deep},"input":${deep}}}`,
      });
      const { errors } = await response.json();
      expect([200, 400]).toContain(response.status);
      for (const { extensions } of errors) {
        expect(extensions).toEqual({
          code: expect.stringMatching(/^(BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED|GRAPHQL_LIMIT_EXCEEDED)$/),
          retryable: false,
        });
      }
      expect(errors.length).toBeGreaterThan(0);
      expect(JSON.stringify(errors).length).toBeLessThan(2_000);
    }
    expect(roomy.sandbox.requests.lines()).toEqual([]);
  });
});

describe('an HTTP upgrade', () => {
  const upgrade = (path: string, protocol: string, ...lines: string[]) =>
    [
      `GET ${path} HTTP/1.1`,
      'host: a',
      'connection: close, Upgrade',
      `upgrade: ${protocol}`,
      ...lines,
      '\r\n',
    ].join('\r\n');

  test('to WebSocket is rejected with the advice to send a POST', async () => {
    const lines = ['sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='];
    for (const request of [
      upgrade('/graphql', 'websocket', ...lines, 'sec-websocket-protocol: graphql-transport-ws'),
      upgrade('/graphql', 'WebSocket', ...lines, 'sec-fetch-mode: websocket', 'accept: */*'),
      upgrade('/graphql?query={organization{id}}', 'websocket', `authorization: ${authorization}`),
    ]) {
      const answer = await sendRaw(waybill, request);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        501,
        refusal(
          'BAD_REQUEST',
          'WebSockets are not supported. Send operations by POST as JSON. The response to a subscription is an HTTP stream.',
        ),
      ]);
    }
    expect(sandbox.requests.lines()).toEqual([]);
    await othersAreServed();
  });

  test('to h2c is ignored', async () => {
    const answer = await sendRaw(waybill, upgrade('/graphql?query={__typename}', 'h2c'));
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { data: { __typename: 'Query' } }]);
  });
});

describe('a bearer token', () => {
  const ask = (...authorizations: string[]) =>
    [
      'POST /graphql HTTP/1.1',
      'host: a',
      ...authorizations.map((value) => `Authorization: ${value}`),
      json,
      'connection: close',
      `content-length: ${organizationQuery.length}`,
      '',
      organizationQuery,
    ].join('\r\n');

  test.each([
    ['a NUL', 'Bearer a\0b', 400, 'BAD_REQUEST'],
    ['a bare CR', 'Bearer a\rb', 400, 'BAD_REQUEST'],
    ['a bare LF', 'Bearer a\nb', 400, 'BAD_REQUEST'],
    ['a line break and an injected header', 'Bearer a b\r\nx-injected: c', 401, 'UNAUTHENTICATED'],
    ['an accent', 'Bearer caf\xe9', 401, 'UNAUTHENTICATED'],
    ['an emoji', Buffer.from('Bearer ☕').toString('latin1'), 401, 'UNAUTHENTICATED'],
    ['a length of 10 KB', `Bearer ${'a'.repeat(10_240)}`, 401, 'UNAUTHENTICATED'],
    ['a length of 20 KB', `Bearer ${'a'.repeat(20_480)}`, 431, 'REQUEST_TOO_LARGE'],
  ])('with %s gets an error that does not repeat the token', async (_what, value, status, code) => {
    const answer = await sendRaw(waybill, Buffer.from(ask(value), 'latin1'));
    expect([answer.status, answer.headers['x-content-type-options']]).toEqual([status, 'nosniff']);
    expect(JSON.parse(answer.body)).toEqual({
      errors: [
        { message: expect.not.stringMatching(/aaa|caf|injected/), extensions: { code, retryable: false } },
      ],
    });
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('in two headers is rejected for queries and labels', async () => {
    const message =
      'Expected the header "Authorization: Bearer <access token>", but it has a different form.';
    const body = refusal('UNAUTHENTICATED', message);
    const twice = ask(authorization, authorization);
    for (const request of [twice, twice.replace('POST /graphql', 'GET /labels/ca0001.pdf')]) {
      const answer = await sendRaw(waybill, request);
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
      expect(JSON.parse(answer.body)).toEqual(body);
    }
    expect(sandbox.requests.lines()).toEqual([]);
  });
});
