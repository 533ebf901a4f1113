import { describe, expect, test } from 'vitest';
import { ListCursors } from '../../../src/loaders/paging/cursor.ts';
import { type Answer, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

/** A row of a list, by its number in the list. */
type RowOf = (number: number, parameters: URLSearchParams) => object;

const order = { referenceId: 'other', recipient: { phoneNumber: '+573000000000' } };
const rowOf: Record<string, RowOf> = {
  orders: (number) => ({ name: `orders/${number}`, ...order }),
  shipments: (number) => ({ name: `shipments/${number}`, quote: `quotes/${number}`, label: 'labels/1' }),
  origins: (number) => ({ name: `origins/${number}` }),
  locations: (number) => ({ name: `locations/${number}` }),
  channels: (number) => ({ name: `channels/${number}`, type: 'chat', active: true }),
  templates: (number) => ({ name: `t${number}`, language: 'es' }),
};

/** REST, whose lists have this many pages of one row each, except those that a changed row or another answer replaces. */
function listsOf(pages: number, other: Answer = () => false): Answer {
  return async (request, response, body) => {
    if ((await other(request, response, body)) === true) return;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service');
    const list = pathname.split('/').at(-1) ?? '';
    const number = Number(searchParams.get('pageToken') ?? 1);
    const row = rowOf[list]?.(number, searchParams);
    const json =
      row === undefined
        ? { name: pathname.slice('/v1/'.length), ...order, type: 'chat', active: true }
        : { [list]: [row], nextPageToken: number < pages ? String(number + 1) : '' };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };
}

/** The calls for the pages of a list up to this one. The pages after the first one have another size. */
const pagesOf = (call: string, last: number, furtherSize = /pageSize=(\d+)/.exec(call)?.[1]) =>
  Array.from({ length: last }, (_, index) =>
    index === 0 ? call : call.replace(/pageSize=\d+/, `pageSize=${furtherSize}&pageToken=${index + 1}`),
  );

const cutShort = {
  code: 'UPSTREAM_BUDGET_EXCEEDED',
  retryable: false,
  message:
    'The search did not reach the end of the list: an operation may scan at most 20 pages. ' +
    'Search in several operations, or read the list itself page by page.',
};

const searches: [title: string, field: string, call: string, furtherSize?: string][] = [
  [
    'orderByReference',
    'orderByReference(referenceId: "Ana") { id }',
    'orders?pageSize=100&search=Ana',
    '1000',
  ],
  ['an origin', 'origin(id: "none") { id }', 'origins?pageSize=1000'],
  ['a channel', 'channel(id: "none") { id }', 'channels?pageSize=100'],
  ['a location', 'location(id: "none") { regionCode }', 'locations?pageSize=1000&query=locations%2Fnone'],
];

describe.each(searches)('the search for %s', (_title, field, call, furtherSize) => {
  const query = `{ field: ${field} }`;

  test('reads 20 pages after the first one and returns null at the end of the list', async () => {
    await using app = await startApp(listsOf(21), { REFERENCE_DATA_MS: '0' });
    expect(await app.ask(query)).toEqual({ data: { field: null }, errors: undefined });
    expect(app.calls()).toEqual(pagesOf(`GET /v1/${call}`, 21, furtherSize));
  });

  test('fails with UPSTREAM_BUDGET_EXCEEDED if the list is longer than 21 pages', async () => {
    await using app = await startApp(listsOf(22), { REFERENCE_DATA_MS: '0' });
    expect(await app.ask(query)).toEqual({ data: { field: null }, errors: [{ path: 'field', ...cutShort }] });
    expect(app.calls()).toEqual(pagesOf(`GET /v1/${call}`, 21, furtherSize));
  });
});

test('a template search fails if the list of templates is longer than 21 pages', async () => {
  await using app = await startApp(
    listsOf(22, (request, response) => {
      if (!request.url?.startsWith('/v1/channels?')) return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ channels: [{ name: 'channels/1' }] }));
      return true;
    }),
  );
  const { data, errors } = await app.ask('{ channel(id: "1") { template(name: "none") { name } } }');
  expect({ data, errors }).toEqual({
    data: { channel: { template: null } },
    errors: [{ path: 'channel.template', ...cutShort }],
  });
  expect(app.calls()).toEqual([
    'GET /v1/channels?pageSize=100',
    ...pagesOf('GET /v1/channels/1/templates?pageSize=100', 21),
  ]);
});

test('Recipient.orders fails if the first and 20 further pages have too few matches', async () => {
  const phone = { recipient: { phoneNumber: '+573009999999' } };
  await using app = await startApp(
    listsOf(40, (request, response) => {
      if (request.url !== '/v1/orders/1') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ name: 'orders/1', ...phone }));
      return true;
    }),
  );
  const { data, errors } = await app.ask(
    '{ order(id: "1") { recipient { orders(first: 5) { nodes { id } } } } }',
  );
  expect({ data, errors }).toEqual({
    data: { order: { recipient: { orders: null } } },
    errors: [{ path: 'order.recipient.orders', ...cutShort }],
  });
  const call = (pageSize: number) => `GET /v1/orders?pageSize=${pageSize}&search=%2B573009999999`;
  expect(app.calls()).toEqual(['GET /v1/orders/1', call(5), ...pagesOf(call(1000), 21).slice(1)]);
});

test('29 searches of one operation share a budget of 20 further pages', async () => {
  await using app = await startApp(listsOf(100));
  const fields = Array.from(
    { length: 29 },
    (_, index) => `a${index}: orderByReference(referenceId: "Ana ${index}") { id }`,
  );
  const { errors } = await app.ask(`{ ${fields.join(' ')} }`);
  expect(errors).toHaveLength(29);
  expect(new Set(errors?.map(({ code }) => code))).toEqual(new Set(['UPSTREAM_BUDGET_EXCEEDED']));
  expect(app.calls()).toHaveLength(29 + 20);
});

test('29 made-up cursors cost at most 20 pages to check page tokens', async () => {
  await using app = await startApp(listsOf(100));
  const fields = Array.from({ length: 29 }, (_, index) => {
    const search = `Ana ${index}`;
    // For REST, this token is the first page.
    const place = { pageToken: '1', rowsBefore: 0, skip: 0, anchor: undefined, firstBefore: 'orders/1' };
    const after = new ListCursors('orders', { search }).encode(place);
    return `a${index}: orders(first: 1, search: "${search}", after: "${after}") { nodes { id } }`;
  });
  const { errors = [] } = await app.ask(`{ ${fields.join(' ')} }`);
  expect(Object.groupBy(errors, ({ code }) => code)).toMatchObject({
    UPSTREAM_INVALID_RESPONSE: { length: 20 },
    UPSTREAM_BUDGET_EXCEEDED: { length: 9 },
  });
  expect(app.calls()).toHaveLength(29 + 20);
});

test('the further pages of several searches are read one after the other', async () => {
  let [atOnce, most] = [0, 0];
  await using app = await startApp(
    listsOf(3, async ({ url = '' }) => {
      if (!url.includes('pageToken=')) return false;
      atOnce += 1;
      most = Math.max(most, atOnce);
      // Pages that were asked for at once would all have come by then.
      await new Promise((resolve) => setTimeout(resolve, 20));
      atOnce -= 1;
      return false;
    }),
  );
  const fields = [0, 1, 2].map((index) => `a${index}: orderByReference(referenceId: "Ana ${index}") { id }`);
  expect((await app.ask(`{ ${fields.join(' ')} }`)).errors).toBeUndefined();
  expect(app.calls()).toHaveLength(3 * 3);
  expect(most).toBe(1);
});

test('equal searches of one operation read each page once', async () => {
  await using app = await startApp(listsOf(4));
  const search = '(referenceId: "Ana") { id }';
  await app.ask(`{ a: orderByReference${search} b: orderByReference${search} }`);
  expect(app.calls()).toEqual(pagesOf('GET /v1/orders?pageSize=100&search=Ana', 4, '1000'));
});

test('a search goes on after a further page of another search has failed', async () => {
  await using app = await startApp(
    listsOf(3, ({ url = '' }, response) => {
      if (!url.includes('pageToken=2') || !url.includes('search=bad')) return false;
      response.writeHead(400).end();
      return true;
    }),
  );
  const { data, errors } = await app.ask(
    '{ bad: orderByReference(referenceId: "bad") { id } good: orderByReference(referenceId: "good") { id } }',
  );
  expect(data).toEqual({ bad: null, good: null });
  expect(errors?.map(({ path }) => path)).toEqual(['bad']);
  expect(app.calls()).toHaveLength(2 + 3);
});

test('a search and counts in one operation share a budget of 20 pages', async () => {
  await using app = await startApp(listsOf(100));
  const { data, errors } = await app.ask(
    '{ orderByReference(referenceId: "Ana") { id } shipmentCounts { isExact } }',
  );
  expect(data).toEqual({ orderByReference: null, shipmentCounts: { isExact: false } });
  expect(errors).toEqual([{ path: 'orderByReference', ...cutShort }]);
  // The first page of the search is free, and no page of the counts is.
  expect(app.calls()).toHaveLength(1 + 20);
});

test('each page after the first one of a search costs 100 points', async () => {
  await using app = await startApp(listsOf(6), { RATE_LIMIT_POINTS_PER_SECOND: '1000' });
  const response = await app.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer token', 'x-upstream-cost': '1' },
    body: JSON.stringify({ query: '{ orderByReference(referenceId: "Ana") { id } }' }),
  });
  const { extensions } = await response.json();
  expect([extensions.cost.points, extensions.upstream.calls]).toEqual([1 + 5 * 100, 6]);
});

test('a cached page of reference data does not count toward the 20 pages', async () => {
  await using app = await startApp(listsOf(21), { REFERENCE_DATA_MS: '60000' });
  await app.ask('{ origin(id: "21") { id } }');
  const { data, errors } = await app.ask(
    '{ origin(id: "20") { id } orderByReference(referenceId: "Ana") { id } }',
  );
  expect({ data, errors }).toEqual({
    data: { origin: { id: 'origins/20' }, orderByReference: null },
    errors: undefined,
  });
  expect(app.calls()).toHaveLength(21 + 21);
});

describe('the search for the record of a lost write', () => {
  /** REST that loses the response of each POST, and has 40 pages in each list. */
  const losesPosts = listsOf(40, (request) => {
    if (request.method !== 'POST') return false;
    request.socket.destroy();
    return true;
  });
  const input = `{ recipient: { firstName: "Ana", lastName: "Ruiz", email: "ana@example.com", phoneNumber: "+57300",
      address: { addressLines: ["a", "b"] }, location: "locations/1" }, contentDescription: "Café", notes: "Nota",
    sellingPriceCents: 1, cashOnDeliveryRequestCents: 0, referenceId: "Ana", idempotencyKey: "key" }`;
  const shipment = `{ quote: "quotes/q", courier: "couriers/c", origin: "origins/1", requiresPickup: false,
    recipient: { firstName: "Ana", lastName: "Ruiz", email: "ana@example.com", phoneNumber: "+57300",
      address: { addressLines: ["a", "b"] } } }`;

  test.each([
    [
      'an order',
      `mutation { write: createOrder(input: ${input}) { __typename } }`,
      'orders?pageSize=1000&search=Ana',
    ],
    [
      'a shipment',
      `mutation { write: createShipment(input: ${shipment}) { __typename } }`,
      'shipments?pageSize=1000',
    ],
  ])('ends as OutcomeUnknown after 20 pages: %s', async (_what, mutation, call) => {
    await using app = await startApp(losesPosts, {}, { processingMs: 0 });
    const unknown = { data: { write: { __typename: 'OutcomeUnknown' } }, errors: undefined };
    expect(await app.ask(mutation)).toEqual(unknown);
    const before = app.calls().length;
    expect(await app.ask(mutation)).toEqual(unknown);
    const again = app.calls().slice(before);
    expect(again.filter((line) => line.startsWith('POST'))).toEqual([]);
    expect(again.filter((line) => line.includes('pageSize'))).toEqual(pagesOf(`GET /v1/${call}`, 21));
  });

  test('does not wait for an operation that may wait for its lock', async () => {
    let isHeld = false;
    const rest = listsOf(40, (request) => {
      if (request.url === '/v1/orders?pageSize=1000') isHeld = true;
      else if (request.method === 'POST') request.socket.destroy();
      else return false;
      return true;
    });
    await using app = await startApp(rest, {}, { processingMs: 0 });
    const mutation = `mutation { write: createShipment(input: ${shipment}) { __typename } }`;
    await app.ask(mutation);
    const client = new AbortController();
    const heavy = app
      .ask('{ orders(first: 1000) { nodes { id shipment { id } } } }', 'token', { signal: client.signal })
      .catch(() => undefined);
    await until(() => isHeld);
    expect((await app.ask(mutation)).data).toEqual({ write: { __typename: 'OutcomeUnknown' } });
    client.abort();
    await heavy;
  });
});
