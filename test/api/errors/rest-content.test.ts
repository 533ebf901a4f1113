import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type Answer, answerJson, answerText, startService } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startServer } from '../../fixtures/start-server.ts';

// What may be wrong in what REST answers, as a client of the graph sees it, with retries as they are by default.

const order = { name: 'orders/7', fulfiller: 'OPERATOR', status: 'NEW' };
const invalid = { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false };
const standard = { UPSTREAM_RETRIES: '2' };

const start = (answer: Answer, environment: Record<string, string> = standard) =>
  startApp(answer, environment);

function answerBytes(body: Buffer, headers: Record<string, string>): Answer {
  return (_request, response) => response.writeHead(200, headers).end(body);
}

describe('a record of the REST service', () => {
  const fields = '{ order(id: "7") { status fulfiller sellingPrice { cents } } }';
  const good = { ...order, sellingPriceCents: 100 };
  const unusableSetting = (path: string) => ({
    ...invalid,
    message: `The REST service sent no valid value for the field at ${path}.`,
    path,
  });

  test.each<[string, object, unknown, object[] | undefined]>([
    [
      'shows an unknown enum value as UNRECOGNIZED',
      { status: 'TELEPORTED' },
      { status: 'UNRECOGNIZED', fulfiller: 'OPERATOR', sellingPrice: { cents: 100 } },
      undefined,
    ],
    [
      'is null with an error if a required field is missing',
      { fulfiller: undefined },
      null,
      [unusableSetting('order.fulfiller')],
    ],
    [
      'is null with an error if a value has the wrong type',
      { sellingPriceCents: 'much' },
      null,
      [unusableSetting('order.sellingPrice.cents')],
    ],
    [
      'is valid even if it has unknown fields',
      { color: 'red', __typename: 'Shipment', toString: 1 },
      { status: 'NEW', fulfiller: 'OPERATOR', sellingPrice: { cents: 100 } },
      undefined,
    ],
  ])('%s', async (_what, change, data, errors) => {
    await using waybill = await start(answerJson({ ...good, ...change }));
    const told = await waybill.ask(fields);
    expect([told, waybill.calls()]).toEqual([{ data: { order: data }, errors }, ['GET /v1/orders/7']]);
  });
});

describe('a list of the REST service', () => {
  /** Answers each page by its token. */
  const paged = (page: (token: string | null) => object): Answer => {
    const tokenOf = (request: IncomingMessage) =>
      new URL(request.url ?? '', 'http://rest.test').searchParams.get('pageToken');
    return (request, response, body) => answerJson(page(tokenOf(request)))(request, response, body);
  };
  const five = '{ orders(first: 5) { nodes { id } pageInfo { hasNextPage } } }';
  const rows = (...ids: number[]) => ids.map((id) => ({ name: `orders/${id}` }));
  const nodes = (...ids: number[]) => ids.map((id) => ({ id: `orders/${id}` }));
  const list = (...queries: string[]) => queries.map((query) => `GET /v1/orders?${query}`);
  const fails = (message: string) => ({
    data: { orders: null },
    errors: [{ message, ...invalid, path: 'orders' }],
  });

  test('fails if a page token returns the first page again', async () => {
    await using waybill = await start(paged(() => ({ orders: rows(1), nextPageToken: 'again' })));
    expect(await waybill.ask(five)).toEqual(
      fails(
        'For a page token, the REST service returned the first page of the list again. Check the setting PAGE_TOKEN_PARAMETER.',
      ),
    );
    expect(waybill.calls()).toEqual(list('pageSize=5', 'pageSize=4&pageToken=again', 'pageSize=4'));
  });

  test('continues after an empty page that has a page token', async () => {
    await using waybill = await start(
      paged((token) => (token === null ? { orders: [], nextPageToken: 'next' } : { orders: rows(1, 2) })),
    );
    expect(await waybill.ask(five)).toEqual({
      data: { orders: { nodes: nodes(1, 2), pageInfo: { hasNextPage: false } } },
      errors: undefined,
    });
    expect(waybill.calls()).toEqual(list('pageSize=5', 'pageSize=5&pageToken=next'));
  });

  test('shows a record twice if two pages contain it', async () => {
    await using waybill = await start(
      paged((token) =>
        token === null ? { orders: rows(1, 2), nextPageToken: 'next' } : { orders: rows(2, 3) },
      ),
    );
    expect((await waybill.ask(five)).data).toEqual({
      orders: { nodes: nodes(1, 2, 2, 3), pageInfo: { hasNextPage: false } },
    });
    expect(waybill.calls()).toEqual(list('pageSize=5', 'pageSize=3&pageToken=next'));
  });
});

test('a 4xx error shows clients no URL, IP address or host of the REST service', async () => {
  const text = 'see https://h.example/x, 10.0.0.1, fe80::1 and localhost';
  const shown = 'see <URL>, <IP address>, <IP address> and <host>';
  const errors = [{ field: 'order.notes', message: text }];
  await using service = await startService(answerJson({ message: text, errors }, 422));
  const atLocalhost = new URL(service.url);
  atLocalhost.hostname = 'localhost';
  await using server = await startServer(atLocalhost, {}, { report: () => {} });
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
  };
  const query = `mutation ($input: UpdateOrderInput!) {
      updateOrder(input: $input) { __typename ... on InvalidInput { message fields { path message } } }
    }`;
  const write = { query, variables: { input: { id: '7', notes: 'Dejar en portería' } } };
  const [read, written] = await Promise.all(
    [{ query: '{ order(id: "7") { id } }' }, write].map(async (body) => {
      const response = await server.fetch('/graphql', {
        ...init,
        body: JSON.stringify(body),
      });
      return response.json();
    }),
  );
  expect(read.errors).toMatchObject([
    {
      message: `GET /v1/orders/7 returned 422: ${shown}`,
      extensions: { code: 'BAD_USER_INPUT', fields: [{ path: 'order.notes', message: shown }] },
    },
  ]);
  expect(written).toEqual({
    data: {
      updateOrder: {
        __typename: 'InvalidInput',
        message: shown,
        fields: [{ path: 'notes', message: shown }],
      },
    },
  });
  expect(service.lines().sort()).toEqual(['GET /v1/orders/7', 'PATCH /v1/orders/7']);
});

describe('a label download', () => {
  const path = 'GET /v1/shipments/7/label';
  const pdf = { 'content-type': 'application/pdf' };

  async function label(answer: Answer) {
    await using waybill = await start(answer, standard);
    const response = await waybill.fetch('/labels/7.pdf', {
      headers: { authorization: 'Bearer token' },
    });
    const body = await response.text().catch(() => 'broken off');
    return { status: response.status, body, calls: waybill.calls() };
  }

  test.each<[string, Answer, string, string]>([
    ['is not a PDF', answerText('<p>', 200), 'UPSTREAM_INVALID_RESPONSE', 'returned no PDF'],
    [
      'is empty',
      answerText('', 200, 'application/pdf'),
      'UPSTREAM_INVALID_RESPONSE',
      'returned an empty body',
    ],
    [
      'exceeds the size limit',
      answerBytes(Buffer.alloc(16_777_217), { ...pdf, 'content-length': '16777217' }),
      'UPSTREAM_RESPONSE_TOO_LARGE',
      'returned more than 16777216 bytes',
    ],
  ])('is rejected if it %s', async (_what, answer, code, what) => {
    const { body, ...told } = await label(answer);
    expect([told, JSON.parse(body)]).toEqual([
      { status: 502, calls: [path] },
      { errors: [{ message: `${path} ${what}`, extensions: { code, retryable: false } }] },
    ]);
  });

  test.each<[string, Answer]>([
    [
      'the connection breaks',
      (request, response) => {
        response.writeHead(200, { ...pdf, 'content-length': '100' }).write('%PDF');
        setTimeout(() => request.socket.resetAndDestroy(), 20);
      },
    ],
    [
      'it exceeds the size limit without a content-length',
      (_request, response) => response.writeHead(200, pdf).end(Buffer.alloc(17_000_000)),
    ],
  ])('is aborted without a retry if %s', async (_what, answer) => {
    expect(await label(answer)).toEqual({ status: 200, body: 'broken off', calls: [path] });
  });
});
