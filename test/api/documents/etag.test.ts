import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWaybill, type Waybill } from '../../harness.ts';

const document = 'query Order { order(id: "ca2492") { id notes } }';
const reference = (query: string) => ({
  extensions: JSON.stringify({ persistedQuery: { version: 1, sha256Hash: hash('sha256', query) } }),
});

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill({ CORS_ORIGINS: 'https://shop.example' });
  await get({ ...reference(document), query: document });
});
afterAll(() => waybill[Symbol.asyncDispose]());

/** Sends a GET of the token, and gives what a cache sees. */
async function get(
  parameters: Record<string, string>,
  { bearer = waybill.sandbox.tokens.first, ...headers }: Record<string, string | undefined> = {},
) {
  waybill.sandbox.requests.clear();
  const response = await waybill.fetch(`/graphql?${new URLSearchParams(parameters)}`, {
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${bearer}`,
      // The cast is safe: an undefined header is not sent.
      ...(headers as Record<string, string>),
    },
  });
  const named = (name: string) => response.headers.get(name);
  return {
    status: response.status,
    etag: named('etag'),
    cacheControl: named('cache-control'),
    vary: named('vary'),
    origin: named('access-control-allow-origin'),
    body: await response.text(),
    calls: waybill.sandbox.requests.lines(),
  };
}

const known = async (parameters: Record<string, string>) => {
  const { etag } = await get(parameters);
  return { 'if-none-match': etag ?? 'none' };
};

describe('a GET by the id of a document', () => {
  test.each([
    ['APQ', reference(document)],
    ['documentId', { documentId: hash('sha256', document) }],
    ['documentId with a prefix', { documentId: `sha256:${hash('sha256', document)}` }],
    ['id', { id: hash('sha256', document) }],
  ])('has a weak ETag, is private, and varies by Authorization: %s', async (_title, parameters) => {
    const response = await get(parameters);
    expect(response).toMatchObject({ status: 200, cacheControl: 'private, no-cache' });
    expect(response.etag).toMatch(/^W\/"[\w-]{43}"$/);
    expect(response.vary?.split(', ')).toContain('authorization');
  });

  test('gets a 304 without a body after the same REST calls if the data is unchanged', async () => {
    const tag = await known(reference(document));
    const again = await get(reference(document), { ...tag, origin: 'https://shop.example' });
    expect(again).toMatchObject({
      status: 304,
      body: '',
      etag: tag['if-none-match'],
      cacheControl: 'private, no-cache',
      origin: 'https://shop.example',
      calls: ['GET /v1/orders/ca2492'],
    });
  });

  test.each([
    ['several tags that include the right tag', (tag: string) => `W/"other", ${tag}`],
    ['the right tag as a strong tag', (tag: string) => tag.slice(2)],
  ])('gets a 304 if the client sends %s', async (_title, sent) => {
    const { 'if-none-match': tag } = await known(reference(document));
    expect((await get(reference(document), { 'if-none-match': sent(tag) })).status).toBe(304);
  });

  test('gets no 304 with another token of the same merchant', async () => {
    const tag = await known(reference(document));
    const other = await get(reference(document), { ...tag, bearer: waybill.sandbox.tokens.firstRefreshed });
    expect(other).toMatchObject({ status: 200 });
    expect(other.etag).not.toBe(tag['if-none-match']);
  });

  test('gets no 304 after a change of the order', async () => {
    const tag = await known(reference(document));
    const change = 'mutation { updateOrder(input: { id: "ca2492", notes: "Changed today" }) { __typename } }';
    expect((await waybill.ask(change)).data).toEqual({ updateOrder: { __typename: 'UpdateOrderSuccess' } });
    expect(await get(reference(document), tag)).toMatchObject({
      status: 200,
      body: expect.stringContaining('Changed today'),
    });
  });

  test('gets no 304 if it selects a label, because REST signs each label URL anew', async () => {
    const labels = '{ shipments(first: 1, status: DELIVERED) { nodes { label { url } } } }';
    await get({ ...reference(labels), query: labels });
    const tag = await known(reference(labels));
    waybill.sandbox.clock.advance(1_000);
    expect((await get(reference(labels), tag)).status).toBe(200);
  });
});

describe('no ETag', () => {
  const noTag = { etag: null, cacheControl: 'no-store' };

  test.each([
    ['a document in the URL', { query: document }],
    ['an id that is not known', { documentId: hash('sha256', 'unknown') }],
  ])('is sent for %s', async (_title, parameters) => {
    expect(await get(parameters)).toMatchObject(noTag);
  });

  test('is sent if a field fails', async () => {
    const tag = await known(reference(document));
    waybill.sandbox.faults.add({
      kind: 'status',
      status: 500,
      method: 'GET',
      path: '/v1/orders/ca2492',
      times: 9,
    });
    expect(await get(reference(document), tag)).toMatchObject({
      ...noTag,
      status: 200,
      body: expect.stringContaining('errors'),
    });
    waybill.sandbox.faults.clear();
  });

  test('is sent for a token that REST rejects', async () => {
    const tag = await known(reference(document));
    expect(await get(reference(document), { ...tag, bearer: 'unknown' })).toMatchObject({
      ...noTag,
      body: expect.stringContaining('UNAUTHENTICATED'),
    });
  });
});
