import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { automaticPersistedQueries, findDocument } from '../../../src/server/documents/persisted-queries.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const sha256 = (text: string) => hash('sha256', text);
const persisted = (sha256Hash: unknown, version: unknown = 1) => ({
  extensions: { persistedQuery: { version, sha256Hash } },
});

/** Sends these parameters, and gives the answer with the REST calls that it took. */
async function send(
  { fetch, sandbox }: Waybill,
  parameters: object,
  { method = 'POST', bearer = sandbox.tokens.first, accept = 'application/json' } = {},
) {
  sandbox.requests.clear();
  const texts = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const headers = { authorization: `Bearer ${bearer}`, accept, 'content-type': 'application/json' };
  const response =
    method === 'GET'
      ? await fetch(`/graphql?${new URLSearchParams(texts)}`, { headers })
      : await fetch('/graphql', { method, headers, body: JSON.stringify(parameters) });
  const { data, errors } = await response.json();
  return { status: response.status, data, errors, calls: sandbox.requests.lines() };
}

const refused = (status: number, code: string, message: unknown = expect.any(String)) => ({
  status,
  data: undefined,
  errors: [{ message, extensions: { code, retryable: false } }],
  calls: [],
});
const notFound = refused(200, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
const notSupported = refused(200, 'PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
const notAllowed = refused(
  400,
  'OPERATION_NOT_ALLOWED',
  'This operation is not in the server\u2019s list of trusted documents.',
);

let number = 0;
/** A document that no test has sent yet. */
const newQuery = () => {
  number += 1;
  return `query Q${number} { order(id: "ca2481") { id } }`;
};
const order = {
  status: 200,
  data: { order: { id: 'orders/ca2481' } },
  errors: undefined,
  calls: ['GET /v1/orders/ca2481'],
};

describe('automatic persisted queries', () => {
  let waybill: Waybill;
  beforeAll(async () => {
    waybill = await startWaybill();
  });
  afterAll(() => waybill[Symbol.asyncDispose]());

  test.each(['POST', 'GET'])('run a document by its hash after a %s sent the document', async (method) => {
    const query = newQuery();
    const reference = persisted(sha256(query));
    expect(await send(waybill, reference, { method })).toEqual(notFound);
    expect(await send(waybill, { query, ...reference }, { method })).toEqual(order);
    expect(await send(waybill, reference, { method })).toEqual(order);
    expect(await send(waybill, reference, { method: method === 'GET' ? 'POST' : 'GET' })).toEqual(order);
  });

  test.each([
    ['documentId', (id: string) => ({ documentId: `sha256:${id}` })],
    ['documentId without a prefix', (id: string) => ({ documentId: id })],
    ['id', (id: string) => ({ id })],
    ['a hash in upper case', (id: string) => persisted(id.toUpperCase())],
  ])('accept %s as a reference to a document', async (_what, referenceTo) => {
    const query = newQuery();
    const reference = referenceTo(sha256(query));
    expect(await send(waybill, { ...reference, query })).toEqual(order);
    expect(await send(waybill, reference)).toEqual(order);
    expect(await send(waybill, reference, { method: 'GET' })).toEqual(order);
    const [next, wrong] = [newQuery(), newQuery()];
    expect(await send(waybill, { ...referenceTo(sha256(next)), query: next }, { method: 'GET' })).toEqual(
      order,
    );
    expect(await send(waybill, referenceTo(sha256(next)))).toEqual(order);
    const mismatch = await send(waybill, { ...reference, query: wrong }, { method: 'GET' });
    expect(mismatch).toEqual(refused(400, 'BAD_REQUEST', 'The hash does not match the query.'));
  });

  test('return 200 for an unknown hash if Accept is application/graphql-response+json', async () => {
    const accept = 'application/graphql-response+json';
    expect(await send(waybill, persisted(sha256('{ a }')), { accept })).toEqual(notFound);
  });

  test('take variables and operationName from the request', async () => {
    const query =
      'query A($id: ID!) { order(id: $id) { id } } query B($id: ID!) { shipment(id: $id) { id } } query Z { __typename }';
    const reference = persisted(sha256(query));
    await send(waybill, { query, ...reference, operationName: 'Z' });
    const asked = { ...reference, operationName: 'A', variables: { id: 'ca2482' } };
    expect(await send(waybill, asked)).toEqual({
      status: 200,
      data: { order: { id: 'orders/ca2482' } },
      errors: undefined,
      calls: ['GET /v1/orders/ca2482'],
    });
  });

  test('do not store a document with a wrong hash', async () => {
    const [query, other] = [newQuery(), newQuery()];
    expect(await send(waybill, { query: other, ...persisted(sha256(query)) })).toEqual(
      refused(400, 'BAD_REQUEST', 'The hash does not match the query.'),
    );
    expect(await send(waybill, persisted(sha256(query)))).toEqual(notFound);
    // Nor does it take the place of the right one.
    await send(waybill, { query, ...persisted(sha256(query)) });
    expect(await send(waybill, { query: other, ...persisted(sha256(query)) })).toMatchObject({ status: 400 });
    expect(await send(waybill, persisted(sha256(query)))).toEqual(order);
  });

  test.each(['{ unknown }', '{ order(id: ', '{ __typename @skip }'])(
    'return the same error for the hash of the invalid document %s',
    async (query) => {
      const answer = await send(waybill, { query, ...persisted(sha256(query)) });
      expect(answer.calls).toEqual([]);
      expect(answer.errors[0].extensions.code).toMatch(/^GRAPHQL_(PARSE|VALIDATION)_FAILED$/);
      expect(await send(waybill, persisted(sha256(query)))).toEqual(answer);
    },
  );

  test('reject a GET with the hash of a mutation', async () => {
    const query = 'mutation M { createOrder(input: {}) { __typename } }'
      .replace('{}', '$i')
      .replace('M', 'M($i: CreateOrderInput!)');
    const reference = persisted(sha256(query));
    await send(waybill, { query, ...reference, variables: { i: {} } });
    expect(await send(waybill, { ...reference, variables: { i: {} } }, { method: 'GET' })).toMatchObject({
      status: 405,
      calls: [],
    });
  });

  test('run a stored document with the token of each request', async () => {
    const query = newQuery();
    await send(waybill, { query, ...persisted(sha256(query)) });
    const bearer = waybill.sandbox.tokens.second;
    expect(await send(waybill, persisted(sha256(query)), { bearer })).toEqual({
      status: 200,
      data: { order: null },
      errors: undefined,
      calls: ['GET /v1/orders/ca2481'],
    });
  });

  test.each<[string, object, object]>([
    ['an unknown version', persisted(sha256('{ a }'), 2), notSupported],
    ['no version', { extensions: { persistedQuery: { sha256Hash: sha256('{ a }') } } }, notSupported],
    ['an invalid hash', persisted('abc'), refused(400, 'BAD_REQUEST')],
    ['a number as a hash', persisted(7), refused(400, 'BAD_REQUEST')],
    ['a string as persistedQuery', { extensions: { persistedQuery: 'abc' } }, refused(400, 'BAD_REQUEST')],
    ['a number as an id', { id: 7 }, refused(400, 'BAD_REQUEST')],
    ['an empty id', { documentId: '' }, refused(400, 'BAD_REQUEST')],
    ['an id that is not a hash', { id: 'OrderPage' }, notFound],
    ['__proto__ as an id', { id: '__proto__' }, notFound],
    ['two document ids', { id: 'a', documentId: 'b' }, refused(400, 'BAD_REQUEST')],
    ['no parameters', {}, refused(400, 'BAD_REQUEST', 'Must provide query string.')],
    [
      'a null persistedQuery',
      { extensions: { persistedQuery: null } },
      refused(400, 'BAD_REQUEST', 'Must provide query string.'),
    ],
  ])('reject a request with %s', async (_what, parameters, expected) => {
    expect(await send(waybill, parameters)).toEqual(expected);
  });

  test('evict the least recently used document', () => {
    // New texts have a quarter of the memory, in which two texts of 1,000 characters have room.
    const policy = automaticPersistedQueries(() => false, 20_000);
    const texts = ['{ a }', '{ b }', '{ c }'].map((text) => text + ' '.repeat(1_000));
    const headers = new Headers();
    for (const query of texts) findDocument(policy, { query, ...persisted(sha256(query)) }, headers);
    const kept = texts.filter((text) => findDocument(policy, persisted(sha256(text)), headers) === text);
    expect(kept).toEqual(texts.slice(1));
  });

  test('keep documents of accepted tokens if unknown tokens fill the store', async () => {
    await using small = await startWaybill({}, { persistedQueryBytes: 20_000, sandbox: waybill.sandbox });
    const [ofStranger, named, sent] = [newQuery(), newQuery(), newQuery()];
    await send(small, { query: ofStranger, ...persisted(sha256(ofStranger)) }, { bearer: 'stranger' });
    await send(small, { query: named, ...persisted(sha256(named)) }, { bearer: 'stranger' });
    await send(small, { query: '{ organization { id } }' });
    expect(await send(small, persisted(sha256(named)))).toEqual(order);
    expect(await send(small, { query: sent, ...persisted(sha256(sent)) })).toEqual(order);
    for (let count = 0; count < 10; count += 1) {
      const text = newQuery() + ' '.repeat(1_000);
      await send(small, { query: text, ...persisted(sha256(text)) }, { bearer: 'stranger' });
      const { status, errors } = await send(small, persisted(sha256(text)), { bearer: 'stranger' });
      expect([status, errors[0].extensions.code]).toEqual([200, 'UNAUTHENTICATED']);
    }
    for (const text of [named, sent]) expect(await send(small, persisted(sha256(text)))).toEqual(order);
    expect(await send(small, persisted(sha256(ofStranger)))).toEqual(notFound);
  });
});

describe('a server with trusted documents', () => {
  const page = 'query OrderPage { order(id: "ca2481") { id } }';
  const type = '{ __typename }';
  let waybill: Waybill;
  beforeAll(async () => {
    waybill = await startWaybill(
      {},
      {
        trustedDocuments: new Map([
          ['order-page', page],
          ['sha256:abc', type],
        ]),
      },
    );
  });
  afterAll(() => waybill[Symbol.asyncDispose]());

  test.each<[string, object]>([
    ['its id', { id: 'order-page' }],
    ['its id as documentId', { documentId: 'order-page' }],
    ['its hash', persisted(sha256(page))],
    ['its hash as documentId', { documentId: `sha256:${sha256(page)}` }],
    ['its query', { query: page }],
    ['its query and id', { query: page, id: 'order-page' }],
    ['its query and hash', { query: page, ...persisted(sha256(page)) }],
  ])('runs a document by %s', async (_what, parameters) => {
    expect(await send(waybill, parameters)).toEqual(order);
    expect(await send(waybill, parameters, { method: 'GET' })).toEqual(order);
  });

  test('accepts an id with or without its prefix "sha256:"', async () => {
    for (const documentId of ['sha256:abc', 'abc']) {
      expect(await send(waybill, { documentId })).toMatchObject({ data: { __typename: 'Query' } });
    }
  });

  test.each<[string, object]>([
    ['an unlisted document', { query: '{ order(id: "ca2481") { id } }' }],
    ['a listed document with an extra space', { query: `${page} ` }],
    ['an introspection', { query: '{ __schema { queryType { name } } }' }],
    ['a document that is not GraphQL', { query: '{' }],
    ['an unlisted id', { id: 'order' }],
    ['an unlisted hash', persisted(sha256('{ a }'))],
    [
      'an unlisted document with its hash',
      { query: '{ a: __typename }', ...persisted(sha256('{ a: __typename }')) },
    ],
  ])('rejects %s', async (_what, parameters) => {
    for (const method of ['POST', 'GET'])
      expect(await send(waybill, parameters, { method })).toEqual(notAllowed);
    // It has not been taken by being sent.
    expect(await send(waybill, parameters)).toEqual(notAllowed);
  });

  test('rejects a document that comes with the id of another document', async () => {
    expect(await send(waybill, { query: type, id: 'order-page' })).toEqual(
      refused(400, 'BAD_REQUEST', 'The id does not match the query.'),
    );
  });

  test('shows its documents in the tabs of GraphiQL', async () => {
    const response = await waybill.fetch('/graphql', { headers: { accept: 'text/html' } });
    const html = await response.text();
    const options = JSON.parse(/<script id="options"[^>]*>(.*?)<\/script>/s.exec(html)?.[1] ?? '');
    expect(options.tabs).toEqual([
      expect.stringMatching(/^# This server runs only the 2 documents of\n/),
      page,
      type,
    ]);
  });
});
