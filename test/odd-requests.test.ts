import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RestApi } from '../src/rest/api.ts';
import { createApp } from '../src/server/app.ts';
import { type Listener, listen } from '../src/server/listener.ts';

// None of these requests gets as far as REST.
const reported: unknown[] = [];
const app = createApp({
  api: {} as RestApi,
  currency: 'COP',
  callsPerOperation: 16,
  publicUrl: () => new URL('http://waybill.test'),
  report: (error) => reported.push(error),
});

let listener: Listener;
beforeAll(async () => {
  listener = await listen(app, '127.0.0.1', 0);
});
beforeEach(() => {
  reported.length = 0;
});
afterAll(() => listener.close());

const typename = JSON.stringify({ query: '{ __typename }' });
const typenameInUrl = `/graphql?query=${encodeURIComponent('{ __typename }')}`;

const post = (body: string, contentType = 'application/json') =>
  fetch(new URL('/graphql', listener.url), {
    method: 'POST',
    headers: { 'content-type': contentType, accept: 'application/json' },
    body,
  });

/** Sends the head of a GET as it is, which no client would do, and answers the status and the body. */
async function send(target: string, host: string): Promise<{ status: number; body: string }> {
  const socket = connect(Number(listener.url.port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body };
}

const badRequest = (message: string) => ({
  errors: [{ message, extensions: { code: 'BAD_REQUEST', retryable: false } }],
});

describe('the address of a request', () => {
  test.each([
    ['blanks', typenameInUrl, 'a b c['],
    ['an open bracket', typenameInUrl, '[::1'],
    ['a port beyond all', typenameInUrl, 'a:99999'],
    ['a stray percent sign', typenameInUrl, '%'],
    ['a path', typenameInUrl, 'a/b'],
    ['a query', typenameInUrl, 'a?b'],
    ['credentials', typenameInUrl, 'user@a'],
    ['a whole URL behind it', 'http://a:80/graphql', 'a:80'],
  ])('with %s is refused, and nothing leaks', async (_what, target, host) => {
    const { status, body } = await send(target, host);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toEqual(badRequest('The header "Host" and the request target make no URL.'));
    expect(reported).toEqual([]);
  });

  test.each(['localhost', 'a.example:4000', '[::1]:4000', '127.0.0.1', ''])(
    'is taken with the host %j',
    async (host) => {
      const { status, body } = await send(typenameInUrl, host);
      expect(status).toBe(200);
      expect(JSON.parse(body)).toEqual({ data: { __typename: 'Query' } });
    },
  );
});

describe('a parameter that is no JSON', () => {
  const message = 'The parameters "variables" and "extensions" must be JSON.';

  test.each(['variables', 'extensions'])('%s, in a GET', async (name) => {
    const response = await fetch(new URL(`${typenameInUrl}&${name}=%7Bsecret`, listener.url), {
      headers: { accept: 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(badRequest(message));
    expect(reported).toEqual([]);
  });
});

test.each([
  'Application/JSON',
  'APPLICATION/JSON; charset=UTF-8',
  'application/json ; charset=utf-8',
  'application/json\t;charset=utf-8',
])('the content type %j is JSON', async (contentType) => {
  const response = await post(typename, contentType);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
});

test.each(['text/plain', 'application/jsonp', 'text/plain; application/json'])(
  'the content type %j is not',
  async (contentType) => {
    expect((await post(typename, contentType)).status).toBe(415);
  },
);

test.each(['{"query":null}', '{}', '{"variables":{}}'])('%s has no query', async (body) => {
  const response = await post(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual(badRequest('Must provide query string.'));
});

test.each([
  ['several operations and no name', { query: 'query A { __typename } query B { __typename }' }],
  ['another name', { query: 'query A { __typename }', operationName: 'B' }],
  ['no operation', { query: 'fragment A on Query { __typename }' }],
])('a document with %s is refused', async (_what, body) => {
  const response = await post(JSON.stringify(body));
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    errors: [
      {
        message: 'Could not determine what operation to execute.',
        extensions: { code: 'OPERATION_RESOLUTION_FAILURE', retryable: false },
      },
    ],
  });
});

test.each([
  ['is no GraphQL', '{', 'GRAPHQL_PARSE_FAILED'],
  ['is not of the schema', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
  ['lacks a variable', 'query ($if: Boolean!) { __typename @include(if: $if) }', 'BAD_USER_INPUT'],
])('a document that %s is not to be sent again', async (_what, query, code) => {
  const { errors } = await (await post(JSON.stringify({ query }))).json();
  expect(errors).toMatchObject([{ extensions: { code, retryable: false } }]);
});
