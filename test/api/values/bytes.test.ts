import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../fixtures/memory-store.ts';
import { parcel } from '../../fixtures/order-to-ship.ts';
import { organizationQuery } from '../../fixtures/organization-query.ts';
import { sendRaw } from '../../fixtures/raw-http.ts';
import type { Answer } from '../../fixtures/rest-service.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

type Encode = (text: string) => Buffer;

const latin1: Encode = (text) => Buffer.from(text, 'latin1');
const utf16: Encode = (text) => Buffer.from(text, 'utf16le');
const withMark: Encode = (text) => Buffer.from(`\ufeff${text}`);

const sandbox: Sandbox = await startSeededSandbox();
afterAll(() => sandbox.close());
beforeEach(() => sandbox.requests.clear());

/** The sandbox, whose responses to `path` are encoded again. Their content type is `contentType`. */
function recoded(path: string, encode: Encode, contentType: string): Answer {
  return async (request, response, body) => {
    const { method = '', url = '' } = request;
    const { authorization = '' } = request.headers;
    const init = { method, headers: { authorization, 'content-type': 'application/json' } };
    const upstream = await fetch(`${sandbox.url}${url}`, method === 'GET' ? init : { ...init, body });
    const text = await upstream.text();
    const isRecoded = `${method} ${url}` === path;
    const type = isRecoded ? contentType : 'application/json';
    response.writeHead(upstream.status, { 'content-type': type });
    response.end(isRecoded ? encode(text) : text);
  };
}

const readOrder = 'GET /v1/orders/ca2481';
const lucia = {
  order: { id: 'orders/ca2481', recipient: { firstName: 'Lucía', lastName: 'Ñáñez Peñalosa' } },
};
const orderQuery = '{ order(id: "ca2481") { id recipient { firstName lastName } } }';

describe('a response of the REST service', () => {
  test.each<[string, Encode, string]>([
    ['ISO-8859-1', latin1, 'application/json; charset=iso-8859-1'],
    ['windows-1252', latin1, 'application/json;charset="Windows-1252"'],
    ['UTF-16', utf16, 'application/json; charset=utf-16le'],
    ['UTF-8 with a byte order mark', withMark, 'application/json'],
    ['UTF-8 with a byte order mark and a charset', withMark, 'application/json; charset=utf-8'],
  ])('keeps its names if it is %s', async (_what, encode, contentType) => {
    await using app = await startApp(recoded(readOrder, encode, contentType));
    const { data, errors } = await app.ask(orderQuery, sandbox.tokens.first);
    expect({ data, errors, calls: app.calls() }).toEqual({
      data: lucia,
      errors: undefined,
      calls: [readOrder],
    });
  });

  const unreadable: [string, Encode, string][] = [
    ['ISO-8859-1 without a charset', latin1, 'application/json'],
    ['ISO-8859-1 in place of UTF-8', latin1, 'application/json; charset=utf-8'],
    ['in an unknown charset', (text) => Buffer.from(text), 'application/json; charset=utf-9'],
  ];

  test.each(unreadable)('causes an error at its field if it is %s', async (_what, encode, contentType) => {
    await using app = await startApp(recoded(readOrder, encode, contentType));
    const query = '{ order(id: "ca2481") { recipient { firstName } } organization { id } }';
    const { data, errors } = await app.ask(query, sandbox.tokens.first);
    expect(data).toEqual({ order: null, organization: { id: 'organization/cafe-andino' } });
    expect(errors).toMatchObject([{ path: 'order', code: 'UPSTREAM_INVALID_RESPONSE', retryable: false }]);
    expect(app.calls().sort()).toEqual([readOrder, 'GET /v1/organizations/mine']);
  });

  test.each(unreadable)('stops shipOrder before a write if it is %s', async (_what, encode, contentType) => {
    const answer = recoded(readOrder, encode, contentType);
    await using app = await startApp(answer, {}, { keyStore: memoryStore });
    const { data, errors } = await app.ask(shipOrder, sandbox.tokens.first);
    expect({ data, errors }).toMatchObject({
      data: { shipOrder: null },
      errors: [{ path: 'shipOrder', code: 'UPSTREAM_INVALID_RESPONSE' }],
    });
    expect(app.calls().filter((call) => call.startsWith('POST'))).toEqual([]);
  });

  test.each(unreadable)(
    'to a write causes OutcomeUnknown if it is %s',
    async (_what, encode, contentType) => {
      await using app = await startApp(recoded('POST /v1/quotes', encode, contentType));
      const { data, errors } = await app.ask(createQuote, sandbox.tokens.first);
      expect({ data, errors }).toEqual({
        data: { createQuote: { __typename: 'OutcomeUnknown' } },
        errors: undefined,
      });
      expect(app.calls().filter((call) => call.startsWith('POST'))).toEqual(['POST /v1/quotes']);
    },
  );
});

const parcelLiteral = JSON.stringify(parcel).replace(/"(\w+)":/g, '$1:');
const shipOrder = `mutation {
  shipOrder(input: { order: "ca2481", origin: "origins/ca4", package: ${parcelLiteral} }) { __typename }
}`;
const createQuote = `mutation {
  createQuote(input: {
    origin: "locations/antioquia-medellin-laureles", destination: "locations/antioquia-medellin-laureles",
    package: ${parcelLiteral}, cashOnDeliveryRequestCents: 0, order: "ca2481"
  }) { __typename }
}`;

describe('the message of an error of the REST service', () => {
  const body = JSON.stringify({ message: 'La dirección no es válida' });
  const ask = async (bytes: Buffer, contentType: string) => {
    await using app = await startApp((_request, response) =>
      response.writeHead(400, { 'content-type': contentType }).end(bytes),
    );
    const { errors } = await app.ask('{ order(id: "ca2481") { id } }');
    return errors?.[0]?.message;
  };

  test.each<[string, Encode, string]>([
    ['UTF-8', (text) => Buffer.from(text), 'application/json'],
    ['UTF-8 with a byte order mark', withMark, 'application/json'],
    ['ISO-8859-1 with a charset', latin1, 'application/problem+json; charset=iso-8859-1'],
  ])('is shown if it is %s', async (_what, encode, contentType) => {
    expect(await ask(encode(body), contentType)).toContain('La dirección no es válida');
  });

  test.each<[string, Encode, string]>([
    ['ISO-8859-1 without a charset', latin1, 'application/json'],
    ['cut off in a character', () => Buffer.from(body).subarray(0, 20), 'application/json'],
    ['in an unknown charset', (text) => Buffer.from(text), 'application/json; charset=utf-9'],
  ])('is not shown if it is %s', async (_what, encode, contentType) => {
    const message = await ask(encode(body), contentType);
    expect(message).toMatch(/\S/);
    expect(message).not.toMatch(/La direcci|\ufffd/);
  });
});

describe('a request of a client', async () => {
  const waybill = await startWaybill({}, { sandbox });
  afterAll(() => waybill[Symbol.asyncDispose]());
  const query = 'query ($search: String) { orders(search: $search, first: 1) { nodes { id } } }';
  const badRequest = (message: string) => ({
    status: 400,
    body: { errors: [{ message, extensions: { code: 'BAD_REQUEST', retryable: false } }] },
  });

  test('may begin with a byte order mark', async () => {
    const body = { data: { organization: { id: 'organization/cafe-andino' } } };
    // The second request has a document that is cached.
    for (let count = 0; count < 2; count += 1)
      expect(await waybill.post(withMark(organizationQuery))).toEqual({ status: 200, body });
  });

  test.each<[string, Buffer]>([
    ['a name in ISO-8859-1', latin1(JSON.stringify({ query, variables: { search: 'Ñáñez' } }))],
    ['a character that is cut off', Buffer.from('{"query":"ñ').subarray(0, -1)],
    ['half of a surrogate pair', Buffer.from([0x7b, 0xed, 0xa0, 0x80, 0x7d])],
  ])('is rejected without a call if its body has %s', async (_what, bytes) => {
    expect(await waybill.post(bytes)).toEqual(
      badRequest('The body is not valid UTF-8. Encode the JSON in UTF-8 and send the request again.'),
    );
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test.each(['iso-8859-1', 'windows-1252', 'utf-16le'])(
    'is rejected without a call if it declares the charset %s',
    async (charset) => {
      const headers = {
        authorization: waybill.authorization,
        'content-type': `application/json; charset=${charset}`,
      };
      const { status } = await waybill.post(organizationQuery, headers);
      expect([status, sandbox.requests.lines()]).toEqual([415, []]);
    },
  );

  const get = async (variables: string) => {
    const target = `/graphql?query=${encodeURIComponent(query)}&variables=${variables}`;
    const head = `Host: waybill.test\r\nAuthorization: ${waybill.authorization}\r\nAccept: application/json`;
    const request = Buffer.from(`GET ${target} HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`, 'latin1');
    const { status, body } = await sendRaw(waybill, request);
    return { status, body: JSON.parse(body) };
  };

  test.each([
    ['a name in ISO-8859-1', '%7B%22search%22%3A%22%D1%E1%F1ez%22%7D'],
    ['a character that is cut off', '%7B%22search%22%3A%22%C3%22%7D'],
    ['half of a surrogate pair', '%7B%22search%22%3A%22%ED%A0%80%22%7D'],
  ])('is rejected without a call if its URL has %s', async (_what, variables) => {
    expect(await get(variables)).toEqual(
      badRequest('The query of the URL is not UTF-8. Percent-encode its bytes in UTF-8.'),
    );
    expect(sandbox.requests.lines()).toEqual([]);
  });

  test('may have a stray percent sign in its URL', async () => {
    expect(await get('%7B%22search%22%3A%22100%%20%C3%B1%22%7D')).toEqual({
      status: 200,
      body: { data: { orders: { nodes: [] } } },
    });
    expect(sandbox.requests.lines()).toEqual(['GET /v1/orders?pageSize=1&search=100% ñ']);
  });

  test.each(['\ud83d', 'a\udc00b', '\udc00\ud83d'])(
    'is rejected without a call if its search has half of a surrogate pair: %j',
    async (search) => {
      const { status, body } = await waybill.post(JSON.stringify({ query, variables: { search } }));
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          data: { orders: null },
          errors: [
            {
              message:
                'Expected "search" to be valid Unicode, but it has half of a surrogate pair. Send whole characters.',
              extensions: { code: 'BAD_USER_INPUT' },
            },
          ],
        },
      });
      expect(sandbox.requests.lines()).toEqual([]);
    },
  );
});
