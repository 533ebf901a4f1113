import { getIntrospectionQuery } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { answerJson } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { sandbox } = waybill;

afterAll(() => waybill[Symbol.asyncDispose]());

interface Reply {
  status: number;
  /** The header `www-authenticate`. */
  challenge: string | null;
  body: unknown;
  calls: string[];
}

async function reply(response: Response): Promise<Reply> {
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    body: await response.json(),
    calls: sandbox.requests.lines(),
  };
}

/** Posts a query with this `Authorization` header, or without one. */
async function post(query: string, authorization?: string, operationName?: string): Promise<Reply> {
  sandbox.requests.clear();
  const headers = {
    'content-type': 'application/json',
    ...(authorization !== undefined && { authorization }),
  };
  const body = JSON.stringify({ query, operationName });
  return reply(await waybill.fetch('/graphql', { method: 'POST', headers, body }));
}

async function get(parameters: Record<string, string>): Promise<Reply> {
  sandbox.requests.clear();
  return reply(await waybill.fetch(`/graphql?${new URLSearchParams(parameters)}`));
}

const refusal = (problem: string): Reply => ({
  status: 401,
  challenge: 'Bearer',
  body: {
    errors: [
      {
        message: `Expected the header "Authorization: Bearer <access token>", but ${problem}.`,
        extensions: { code: 'UNAUTHENTICATED', retryable: false },
      },
    ],
  },
  calls: [],
});
const withoutBearer = refusal('it is missing');
const malformed = refusal('it has a different form');
const notVisible = refusal('the access token has characters that are not visible ASCII');
const tooLong = refusal('the access token has more than 8192 characters');

const organization = '{ organization { id } }';
const cafeAndino = { data: { organization: { id: 'organization/cafe-andino' } } };

describe('a request without an access token', () => {
  test.each([
    ['a field', organization],
    ['an invalid id', '{ order(id: "..") { id } }'],
    ['a field beside __typename', '{ __typename organization { id } }'],
    ['a field with the alias __schema', '{ __schema: organization { id } }'],
    ['an inline fragment', '{ ... on Query { organization { id } } }'],
    ['an inline fragment without a type', '{ ... { ... { organization { id } } } }'],
    [
      'a fragment',
      'query { ...A } fragment A on Query { __typename ...B } fragment B on Query { organization { id } }',
    ],
    ['a skipped field', '{ organization @skip(if: true) { id } }'],
    ['a conversation that costs no call', '{ conversation(id: "channels/1/conversations/1") { id } }'],
  ])('gets 401 by POST and GET if the document has %s', async (_what, query) => {
    expect(await post(query)).toEqual(withoutBearer);
    expect(await get({ query })).toEqual(withoutBearer);
  });

  test('gets 401 only if the selected operation needs a token', async () => {
    const query = 'query Open { __typename } query Closed { organization { id } }';
    expect(await post(query, undefined, 'Closed')).toEqual(withoutBearer);
    expect(await get({ query, operationName: 'Closed' })).toEqual(withoutBearer);
    const open = { status: 200, challenge: null, body: { data: { __typename: 'Query' } }, calls: [] };
    expect(await post(query, undefined, 'Open')).toEqual(open);
    expect(await get({ query, operationName: 'Open' })).toEqual(open);
  });

  test('can use introspection and __typename by POST and GET', async () => {
    const named = '{ __type(name: "Order") { name } ...A } fragment A on Query { __typename }';
    const expected = {
      status: 200,
      challenge: null,
      body: { data: { __type: { name: 'Order' }, __typename: 'Query' } },
      calls: [],
    };
    expect(await post(named)).toEqual(expected);
    expect(await get({ query: named })).toEqual(expected);
    const { status, body } = await post(getIntrospectionQuery());
    expect(status).toBe(200);
    expect(body).toMatchObject({ data: { __schema: { queryType: { name: 'Query' } } } });
  });

  test('gets the validation errors of an invalid document', async () => {
    const { status, challenge, body } = await post('{ organisation { id } }');
    expect({ status, challenge }).toEqual({ status: 200, challenge: null });
    expect(body).toMatchObject({ errors: [{ message: expect.stringMatching(/^Cannot query field/) }] });
  });
});

describe('an Authorization header', () => {
  test.each<[string, string, Reply?]>([
    ['the scheme Basic', 'Basic c2FuZGJveDpjYWZl'],
    ['no scheme', 'sandbox-cafe-andino'],
    ['no token', 'Bearer'],
    ['a space without a token', 'Bearer '],
    ['two words', 'Bearer sandbox cafe-andino'],
    ['two tokens joined by a comma', 'Bearer sandbox-cafe-andino, Bearer sandbox-sur-textil'],
    ['an accent in its token', 'Bearer café', notVisible],
    ['an accent after a bar', 'Bearer 12|café', notVisible],
    ['an emoji in its token', Buffer.from('Bearer ☕').toString('latin1'), notVisible],
    ['a token of 9 KB', `Bearer ${'a'.repeat(9_216)}`, tooLong],
  ])('is rejected with 401 if it has %s', async (_what, authorization, reply = malformed) => {
    expect(await post(organization, authorization)).toEqual(reply);
    expect((await post('{ __typename }', authorization)).status).toBe(200);
  });

  test.each(['bearer', 'BEARER', 'Bearer  '])(
    'can have extra spaces and a scheme in any letter case: %s',
    async (scheme) => {
      const { status, body, calls } = await post(organization, `${scheme} ${sandbox.tokens.first}`);
      expect({ status, body, calls }).toEqual({
        status: 200,
        body: cafeAndino,
        calls: ['GET /v1/organizations/mine'],
      });
    },
  );

  test('causes field errors with HTTP 200 if the REST service rejects the token', async () => {
    const { status, challenge, body, calls } = await post(
      '{ organization { id } orders { nodes { id } } }',
      'Bearer x',
    );
    expect({ status, challenge }).toEqual({ status: 200, challenge: null });
    const error = (field: string, path: string, column: number) => ({
      message: `GET ${path} returned 401: This bearer token is unknown`,
      locations: [{ line: 1, column }],
      path: [field],
      extensions: { code: 'UNAUTHENTICATED', retryable: false, upstreamStatus: 401 },
    });
    expect(body).toEqual({
      data: { organization: null, orders: null },
      errors: expect.arrayContaining([
        error('organization', '/v1/organizations/mine', 3),
        error('orders', '/v1/orders', 23),
      ]),
    });
    expect(calls.toSorted()).toEqual(['GET /v1/orders?pageSize=20', 'GET /v1/organizations/mine']);
  });
});

test.each([
  ['of Laravel Sanctum', '12|AbCdEfGhIjKlMnOp'],
  ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2ln_-'],
  ['in base64', 'ab+/8w=='],
  ['a user and a password', 'user:secret'],
  ['in quotes', '"abc"'],
  [
    'of all visible ASCII characters',
    String.fromCharCode(...Array.from({ length: 94 }, (_, at) => at + 0x21)),
  ],
])('an access token reaches REST unchanged, for queries and labels: %s', async (_what, token) => {
  await using waybill = await startApp((request, response, body) => {
    const isLabel = request.url?.endsWith('/label') === true;
    if (isLabel) response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.7');
    else answerJson({ name: 'organization/7' })(request, response, body);
  });
  expect(await waybill.ask('{ organization { id } }', token)).toEqual({
    data: { organization: { id: 'organization/7' } },
  });
  const label = await waybill.fetch('/labels/7.pdf', {
    headers: { authorization: `Bearer ${token}` },
  });
  expect([label.status, await label.text()]).toEqual([200, '%PDF-1.7']);
  expect(waybill.service.requests.map(({ line, headers }) => [line, headers.authorization])).toEqual([
    ['GET /v1/organizations/mine', `Bearer ${token}`],
    ['GET /v1/shipments/7/label', `Bearer ${token}`],
  ]);
});

test('two merchants that send equal queries see only their own data', async () => {
  const query =
    '{ organization { id } orders(first: 1) { nodes { id recipient { email } } } origins { nodes { id } } }';
  const { first, second } = sandbox.tokens;
  const expected = [await post(query, `Bearer ${first}`), await post(query, `Bearer ${second}`)].map(
    ({ body }) => body,
  );
  expect(expected).toMatchObject([
    {
      data: {
        organization: { id: 'organization/cafe-andino' },
        orders: { nodes: [{ id: 'orders/ca2500' }] },
      },
    },
    {
      data: { organization: { id: 'organization/sur-textil' }, orders: { nodes: [{ id: 'orders/st0300' }] } },
    },
  ]);
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const { body } = await post(query, `Bearer ${index % 2 === 0 ? first : second}`);
      return body;
    }),
  );
  expect(answers.filter((_body, index) => index % 2 === 0)).toEqual(Array(100).fill(expected[0]));
  expect(answers.filter((_body, index) => index % 2 === 1)).toEqual(Array(100).fill(expected[1]));
});

describe('a cursor', () => {
  /** Asks for the order after the first one of the first merchant, with another token. */
  async function askNext(token: string): Promise<Reply> {
    const cursor = '{ orders(first: 1) { pageInfo { endCursor } } }';
    const { body } = await post(cursor, `Bearer ${sandbox.tokens.first}`);
    const end = /"endCursor":"([^"]+)"/.exec(JSON.stringify(body))?.[1];
    return post(`{ orders(first: 1, after: "${end}") { nodes { id } } }`, `Bearer ${token}`);
  }
  const page = expect.stringMatching(/^GET \/v1\/orders\?pageSize=1&pageToken=/);

  test('works with a new token of the same merchant', async () => {
    const { body, calls } = await askNext(sandbox.tokens.firstRefreshed);
    expect(body).toEqual({ data: { orders: { nodes: [{ id: 'orders/ca2499' }] } } });
    expect(calls).toEqual([page]);
  });

  test('is rejected by the REST service if it comes with the token of another merchant', async () => {
    const { body, calls } = await askNext(sandbox.tokens.second);
    expect(body).toMatchObject({
      data: { orders: null },
      errors: [{ extensions: { code: 'INVALID_CURSOR' } }],
    });
    expect(calls).toEqual([page]);
  });
});
