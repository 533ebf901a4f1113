import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { sendRaw } from '../../fixtures/raw-http.ts';
import { startOffline } from '../../fixtures/start-server.ts';

// None of these requests gets as far as REST.
const reported: unknown[] = [];
const server = await startOffline({ report: (error) => reported.push(error) });
beforeEach(() => {
  reported.length = 0;
});
afterAll(() => server[Symbol.asyncDispose]());

const typename = JSON.stringify({ query: '{ __typename }' });
const typenameInUrl = `/graphql?query=${encodeURIComponent('{ __typename }')}`;

const post = (body: string, contentType = 'application/json') =>
  fetch(new URL('/graphql', server.url), {
    method: 'POST',
    headers: { 'content-type': contentType, accept: 'application/json' },
    body,
  });

/** Sends the head of a GET as it is, which no client would do, and answers the status and the body. */
async function send(target: string, host: string): Promise<{ status: number; body: string }> {
  const socket = connect(Number(server.url.port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body };
}

const badRequest = (message: string) => ({
  errors: [{ message, extensions: { code: 'BAD_REQUEST', retryable: false } }],
});

const notFoundError = badRequest('This path does not exist. The GraphQL endpoint is "/graphql".');

describe('the URL of a request', () => {
  test.each([
    ['a host with blanks', typenameInUrl, 'a b c['],
    ['a host with an open bracket', typenameInUrl, '[::1'],
    ['a host with a port out of range', typenameInUrl, 'a:99999'],
    ['a host with a stray percent sign', typenameInUrl, '%'],
    ['a host with a path', typenameInUrl, 'a/b'],
    ['a host with a query', typenameInUrl, 'a?b'],
    ['a host with credentials', typenameInUrl, 'user@a'],
    ['an absolute URL with credentials', `http://user@a${typenameInUrl}`, 'a'],
    ['an absolute URL with the scheme ftp', `ftp://a${typenameInUrl}`, 'a'],
  ])('is rejected with 400 if it is invalid: %s', async (_what, target, host) => {
    const { status, body } = await send(target, host);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toEqual(
      badRequest('The header "Host" and the request target do not form a URL.'),
    );
    expect(reported).toEqual([]);
  });

  test.each(['localhost', 'a.example:4000', '[::1]:4000', '127.0.0.1', ''])(
    'is accepted with the host %j',
    async (host) => {
      const { status, body } = await send(typenameInUrl, host);
      expect(status).toBe(200);
      expect(JSON.parse(body)).toEqual({ data: { __typename: 'Query' } });
    },
  );
});

describe('an ambiguous path', () => {
  const ambiguous = badRequest(
    'The path is ambiguous. Percent-encode it, and send no "//", "#", "\\" or segments such as "..".',
  );
  test.each([
    '/labels/..\\metrics',
    '/labels/../metrics',
    '/labels/..',
    '/./graphql',
    '/labels/%2e%2E/health/live',
    '/labels/.%2e/health/live',
    '/labels\\ca2036.pdf',
    '//graphql',
    '//127.0.0.1/graphql',
    '/health//live',
    '/graphql/#',
    '/graphql#?query={__typename}',
    '/graphql?query={__typename}#',
    '/labels/a{b}.pdf',
    'http://a/labels/../metrics',
    'http://a//graphql',
  ])('is rejected with 400 before routing: GET %s', async (target) => {
    const { status, body } = await send(target, 'a');
    expect([status, JSON.parse(body)]).toEqual([400, ambiguous]);
  });

  test('is rejected with 400 even if the document of the POST is cached', async () => {
    await post(typename);
    const head = `Host: a\r\ncontent-type: application/json\r\ncontent-length: ${typename.length}`;
    for (const target of ['//graphql', '/x/../graphql', '/graphql#']) {
      const answer = await sendRaw(server, `POST ${target} HTTP/1.1\r\n${head}\r\n\r\n${typename}`);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([400, ambiguous]);
    }
  });
});

test.each([
  ['/graphql?query={__typename}&x=//a/../b\\', 200],
  ['/graphql/?query=%7B__typename%7D', 200],
  ['/health/live?', 200],
  ['/health/live?a=../b', 200],
  ['/labels/%2e%2e.pdf', 401],
  ['/labels/..a.pdf', 401],
  ['/labels/..%2fmetrics.pdf', 401],
  ['/labels/a%5Cb.pdf', 401],
  ['/', 404],
])('the path of GET %s is not ambiguous', async (target, status) => {
  expect((await send(target, 'a')).status).toBe(status);
});

describe('an absolute URL as the request target', () => {
  const typename = { data: { __typename: 'Query' } };
  test.each([
    ['the GraphQL endpoint', `http://a${typenameInUrl}`, 'a', 200, typename],
    ['the scheme https', `HTTPS://a:443${typenameInUrl}`, 'a', 200, typename],
    ['an invalid Host header', `http://a${typenameInUrl}`, 'b c', 200, typename],
    ['the health check', 'http://a/health/live', 'a', 200, { status: 'live' }],
    ['a missing path', 'http://a?b', 'a', 404, notFoundError],
  ])('is routed by its path: %s', async (_what, target, host, status, expected) => {
    const answer = await send(target, host);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, expected]);
  });
});

const all = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
test.each<[string, string, number]>([
  ...all.map((method): [string, string, number] => [method, '/health', 404]),
  ['GET', '/graphql/health', 404],
  ['GET', '/nothing?x=/graphql', 404],
  ['GET', '/nothing/graphql', 404],
  ['GET', '/graphiql/none.js', 404],
  ['POST', '/nothing', 404],
  ['GET', '/graphql?query={__typename}&x=/health', 200],
])('%s %s returns %i', async (method, path, status) => {
  const response = await fetch(new URL(path, server.url), {
    method,
    headers: { accept: 'application/json' },
  });
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual(status === 404 ? notFoundError : { data: { __typename: 'Query' } });
});

describe('the Accept header', () => {
  const notAcceptable = {
    errors: [
      {
        message: 'Responses are JSON in UTF-8. Send the header "accept: application/json".',
        extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', retryable: false },
      },
    ],
  };
  test.each([
    'text/html',
    'application/xml',
    'image/*, text/plain',
    'application/json;q=0',
    'application/json ; Q=0.000',
    'application/json;q=0, text/html',
    '*/*;q=0',
  ])('%s is rejected before the operation runs', async (accept) => {
    const response = await fetch(new URL('/graphql', server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept, authorization: 'Bearer a' },
      // It would fail with an error of this server, as there is no REST.
      body: JSON.stringify({ query: '{ organization { id } }' }),
    });
    expect([response.status, await response.json()]).toEqual([406, notAcceptable]);
    expect(reported).toEqual([]);
  });

  test.each([
    'text/html, */*;q=0.1',
    'APPLICATION/JSON ; Charset=UTF-8',
    'application/*',
    'image/png, application/json',
  ])('%s is accepted', async (accept) => {
    const response = await fetch(new URL('/graphql', server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: typename,
    });
    expect([response.status, await response.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
  });

  test.each([
    ['application/json;q=0, application/graphql-response+json', 'application/graphql-response+json'],
    ['application/json;q=0, application/*', 'application/graphql-response+json'],
    ['*/*;q=0, application/json', 'application/json'],
    ['text/html;q=0, application/graphql-response+json, */*', 'application/graphql-response+json'],
    ['text/html;q=0, application/json;q=0.9', 'application/json'],
    ['application/json;q=0.001', 'application/json'],
  ])('%s selects the response type %s', async (accept, mediaType) => {
    // The first request of a document is Yoga's, and the second one may take the fast path.
    for (let count = 0; count < 2; count += 1) {
      const response = await fetch(new URL('/graphql', server.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: typename,
      });
      expect(response.headers.get('content-type')).toBe(`${mediaType}; charset=utf-8`);
      expect([response.status, await response.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
    }
  });
});

describe('a parameter that is not JSON', () => {
  const message = 'The parameters "variables" and "extensions" must be JSON.';

  test.each(['variables', 'extensions'])('is rejected in a GET: %s', async (name) => {
    const response = await fetch(new URL(`${typenameInUrl}&${name}=%7Bsecret`, server.url), {
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
  'application/json;charset="UTF-8"',
  'application/json; odata=verbose',
  'application/json; profile="https://example.com/a"',
  'application/json; q=1',
  'application/json;',
])('the content type %j is accepted as JSON', async (contentType) => {
  const response = await post(typename, contentType);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
});

test.each(['text/plain', 'application/jsonp', 'text/plain; application/json'])(
  'the content type %j is rejected',
  async (contentType) => {
    expect((await post(typename, contentType)).status).toBe(415);
  },
);

test.each(['{"query":null}', '{}', '{"variables":{}}'])(
  'the body %s is rejected because it has no query',
  async (body) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(badRequest('Must provide query string.'));
  },
);

test.each([
  ['several operations and no operationName', { query: 'query A { __typename } query B { __typename }' }],
  ['an unknown operationName', { query: 'query A { __typename }', operationName: 'B' }],
  ['no operation', { query: 'fragment A on Query { __typename }' }],
])('a document with %s is rejected', async (_what, body) => {
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
  ['a syntax error', '{', 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
  ['a missing variable', 'query ($if: Boolean!) { __typename @include(if: $if) }', 'BAD_USER_INPUT'],
])('a request error is not retryable: %s', async (_what, query, code) => {
  const { errors } = await (await post(JSON.stringify({ query }))).json();
  expect(errors).toMatchObject([{ extensions: { code, retryable: false } }]);
});
