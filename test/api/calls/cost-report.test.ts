import { describe, expect, test } from 'vitest';
import {
  CallLog,
  type CallLogEntry,
  type OperationCost,
  operationCost,
  type RequestCost,
} from '../../../src/rest/client/call-log.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

interface Answer {
  data?: unknown;
  errors?: { extensions: { code: string } }[];
  extensions?: { upstream: OperationCost };
}

const asking = { 'x-upstream-cost': '1' };

/** The whole answer to an operation whose request asks for its cost, unless other headers are given. */
async function answerTo(
  { fetch, sandbox }: Waybill,
  query: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = asking,
): Promise<Answer> {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${sandbox.tokens.first}`,
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  });
  // What the tests look at is compared literally.
  return (await response.json()) as Answer;
}

const someNumber: number = expect.any(Number);

/** A call as it is shown where nothing special came of it. */
function shown([method, path]: [string, string], fields: Partial<RequestCost> = {}): RequestCost {
  const numbers = { startMs: someNumber, durationMs: someNumber, bytes: someNumber };
  return { method, path, status: 200, ...numbers, retries: 0, ...fields };
}

const cost = (requests: RequestCost[], fields: Partial<OperationCost> = {}): OperationCost => ({
  calls: requests.length,
  cached: 0,
  savedByList: 0,
  requests,
  ...fields,
});

const organization = '{ organization { id } }';

describe('a response', () => {
  test('shows the cost of the operation if the header x-upstream-cost is 1', async () => {
    await using waybill = await startWaybill();
    expect(await answerTo(waybill, organization)).toEqual({
      data: { organization: { id: 'organization/cafe-andino' } },
      extensions: {
        upstream: {
          calls: 1,
          cached: 0,
          savedByList: 0,
          requests: [
            {
              method: 'GET',
              path: '/v1/organizations/mine',
              status: 200,
              startMs: expect.any(Number),
              durationMs: expect.any(Number),
              bytes: expect.any(Number),
              retries: 0,
            },
          ],
        },
      },
    });
  });

  test('shows the duration and the body size of a call', async () => {
    await using waybill = await startWaybill();
    waybill.sandbox.faults.add({ kind: 'delay', delayMs: 20 });
    const { extensions } = await answerTo(waybill, organization);
    const headers = { authorization: `Bearer ${waybill.sandbox.tokens.first}` };
    const direct = await fetch(`${waybill.sandbox.url}/v1/organizations/mine`, { headers });
    const [{ startMs = -1, durationMs = -1, bytes = -1 } = {}] = extensions?.upstream.requests ?? [];
    expect(bytes).toBe((await direct.arrayBuffer()).byteLength);
    expect(durationMs).toBeGreaterThan(19);
    expect([startMs, durationMs].map((ms) => (ms ?? -1).toFixed(1)).map(Number)).toEqual([
      startMs,
      durationMs,
    ]);
  });

  test('shows no cost by default', async () => {
    await using waybill = await startWaybill();
    const data = { organization: { id: 'organization/cafe-andino' } };
    for (const headers of [{}, { 'x-upstream-cost': '0' }, { 'x-upstream-cost': 'yes' }]) {
      expect(await answerTo(waybill, organization, {}, headers)).toEqual({ data });
    }
  });

  test('shows the cost of the operation if SHOW_COST is yes', async () => {
    await using waybill = await startWaybill({ SHOW_COST: 'yes' });
    const upstream = cost([shown(['GET', '/v1/organizations/mine'])]);
    for (const headers of [{}, asking]) {
      expect((await answerTo(waybill, organization, {}, headers)).extensions).toEqual({ upstream });
    }
  });

  test('shows an empty list of calls if the operation makes no call', async () => {
    await using waybill = await startWaybill();
    const query = '{ conversation(id: "channels/ca1/conversations/ca60") { id } }';
    expect(await answerTo(waybill, query)).toEqual({
      data: { conversation: { id: 'channels/ca1/conversations/ca60' } },
      extensions: { upstream: cost([]) },
    });
  });

  test('shows no cost for an introspection or a rejected request', async () => {
    await using waybill = await startWaybill({ SHOW_COST: 'yes' });
    const introspection = '{ __typename ... on Query { __schema { queryType { name } } } }';
    const data = { __typename: 'Query', __schema: { queryType: { name: 'Query' } } };
    expect(await answerTo(waybill, introspection)).toEqual({ data });
    expect(await answerTo(waybill, introspection, {}, { ...asking, authorization: '' })).toEqual({ data });
    const withoutToken = await answerTo(waybill, organization, {}, { ...asking, authorization: '' });
    expect(Object.keys(withoutToken)).toEqual(['errors']);
    expect(Object.keys(await answerTo(waybill, '{ nothing }'))).toEqual(['errors']);
  });
});

describe('the cost of an operation', () => {
  test('counts a list page from an earlier operation as cached', async () => {
    await using waybill = await startWaybill({ REFERENCE_DATA_MS: '60000' });
    const query = '{ origins { nodes { id } } }';
    const cold = await answerTo(waybill, query);
    const warm = await answerTo(waybill, query);
    expect(cold.extensions?.upstream).toEqual(cost([shown(['GET', '/v1/origins'])]));
    expect(warm).toEqual({ data: cold.data, extensions: { upstream: cost([], { cached: 1 }) } });
  });

  test('counts a list page from a concurrent operation as cached', async () => {
    await using waybill = await startWaybill({ REFERENCE_DATA_MS: '60000' });
    waybill.sandbox.faults.add({ path: '/v1/origins', kind: 'delay', delayMs: 50 });
    const [one, other] = await Promise.all([
      answerTo(waybill, '{ origins { nodes { id } } }'),
      answerTo(waybill, '{ origins { nodes { name: id } } }'),
    ]);
    expect(one?.extensions?.upstream).toEqual(cost([shown(['GET', '/v1/origins'])]));
    expect(other?.extensions?.upstream).toEqual(cost([], { cached: 1 }));
    expect(waybill.sandbox.requests.lines()).toHaveLength(1);
  });
});

describe('the cost of an operation with several calls', () => {
  const query = `{
    list: orders(first: 2) { edges { node { shipment { order { status } } } } }
    order(id: "ca2481") { ...Notes }
    nodes(ids: ["orders/ca2481", "orders/none"]) { id ...Notes }
  }
  fragment Notes on Order { notes }`;

  test('lists the calls of a query in the order in which they were sent', async () => {
    await using waybill = await startWaybill();
    const { data, extensions } = await answerTo(waybill, query);
    expect(data).toMatchObject({
      list: { edges: [{ node: { shipment: null } }, { node: { shipment: { order: { status: 'READY' } } } }] },
    });
    expect(extensions?.upstream).toEqual(
      cost([
        shown(['GET', '/v1/orders']),
        shown(['GET', '/v1/orders/{id}']),
        shown(['GET', '/v1/orders/{id}'], { status: 404 }),
        shown(['GET', '/v1/shipments/{id}']),
        shown(['GET', '/v1/quotes/{id}']),
      ]),
    );
  });

  test('lists the calls of a multi-step mutation in the order in which they were sent', async () => {
    await using waybill = await startWaybill();
    const input = await orderToShip(waybill);
    const { data, extensions } = await answerTo(
      waybill,
      `mutation ($input: ShipOrderInput!) { ship: shipOrder(input: $input) {
        __typename ... on ShipOrderSuccess { order { status } }
      } }`,
      { input },
    );
    expect(data).toEqual({ ship: { __typename: 'ShipOrderSuccess', order: { status: 'READY' } } });
    expect(extensions?.upstream).toEqual(
      cost([
        shown(['GET', '/v1/organizations/mine']),
        shown(['GET', '/v1/orders/{id}']),
        shown(['GET', '/v1/origins']),
        shown(['POST', '/v1/quotes'], { status: 201 }),
        shown(['POST', '/v1/shipments'], { status: 201 }),
        shown(['GET', '/v1/orders/{id}']),
      ]),
    );
  });
});

describe('the cost in a response with errors', () => {
  const mine: [string, string] = ['GET', '/v1/organizations/mine'];

  test('lists a call that fails with 503', async () => {
    await using waybill = await startWaybill();
    waybill.sandbox.faults.add({ path: mine[1], kind: 'status', status: 503, body: 'no' });
    const { data, errors, extensions } = await answerTo(waybill, organization);
    expect([data, errors?.[0]?.extensions.code]).toEqual([{ organization: null }, 'UPSTREAM_UNAVAILABLE']);
    expect(extensions?.upstream).toEqual(cost([shown(mine, { status: 503, bytes: 2 })]));
  });

  test('lists a call without a response', async () => {
    await using waybill = await startWaybill();
    waybill.sandbox.faults.add({ path: mine[1], kind: 'reset' });
    const { errors, extensions } = await answerTo(waybill, organization);
    expect(errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(extensions?.upstream).toEqual(cost([shown(mine, { status: null, bytes: 0 })]));
  });

  test('lists a call that ends after the result of the mutation has become null', async () => {
    await using waybill = await startWaybill();
    const input = await orderToShip(waybill);
    const { faults } = waybill.sandbox;
    const change = (order: unknown) => ({ ...Object(order), fulfiller: null });
    faults.add({ method: 'GET', path: `/v1/${input.order}`, kind: 'change', change });
    faults.add({ path: '/v1/locations', kind: 'delay', delayMs: 200 });
    const { data, errors, extensions } = await answerTo(
      waybill,
      `mutation ($input: ShipOrderInput!) { ship: shipOrder(input: $input) {
        ... on ShipOrderSuccess { quote { destination { locality } } order { fulfiller } }
      } }`,
      { input },
    );
    expect([data, errors?.map((error) => error.extensions.code)]).toEqual([
      { ship: null },
      ['UPSTREAM_INVALID_RESPONSE'],
    ]);
    expect(extensions?.upstream).toEqual(
      cost([
        shown(['GET', '/v1/organizations/mine']),
        shown(['GET', '/v1/orders/{id}']),
        shown(['GET', '/v1/origins']),
        shown(['POST', '/v1/quotes'], { status: 201 }),
        shown(['POST', '/v1/shipments'], { status: 201 }),
        shown(['GET', '/v1/orders/{id}']),
        shown(['GET', '/v1/locations'], { bytes: expect.any(Number) }),
      ]),
    );
  });

  test('lists a call that ends after another call has failed', async () => {
    await using waybill = await startWaybill();
    waybill.sandbox.faults.add({ path: '/v1/orders', kind: 'status', status: 500, body: 'no' });
    waybill.sandbox.faults.add({ path: mine[1], kind: 'delay', delayMs: 200 });
    const query = '{ orders(first: 1) { nodes { id } } organization { id } }';
    const { data, errors, extensions } = await answerTo(waybill, query);
    expect([data, errors?.map((error) => error.extensions.code)]).toEqual([
      { orders: null, organization: { id: 'organization/cafe-andino' } },
      ['UPSTREAM_ERROR'],
    ]);
    expect(extensions?.upstream).toEqual(
      cost([shown(['GET', '/v1/orders'], { status: 500, bytes: 2 }), shown(mine)]),
    );
  });

  test('lists no calls if a variable is invalid', async () => {
    await using waybill = await startWaybill();
    const { errors, extensions } = await answerTo(waybill, 'query ($id: ID!) { order(id: $id) { id } }');
    expect(errors?.map((error) => error.extensions.code)).toEqual(['BAD_USER_INPUT']);
    expect(extensions?.upstream).toEqual(cost([]));
  });
});

test('the cost contains no token, query parameter, identifier or personal data', async () => {
  await using waybill = await startWaybill();
  const { data, errors, extensions } = await answerTo(
    waybill,
    `query ($phone: String, $reference: String!) {
      orders(search: $phone, first: 1) { nodes { recipient { fullName phoneNumber location { locality } } } }
      order(id: "ca2481") { notes }
      orderByReference(referenceId: $reference) { shipment { order { id notes } quote { destination { locality } } } }
      locations(search: "huila", first: 2) { nodes { id } }
      channel(id: "channels/ca1") { phoneNumber template(name: "pedido_confirmado") { name }
        conversation(id: "ca60") { messages(first: 1) { nodes { id } } } }
    }`,
    { phone: '+573104567890', reference: '5320321908408' },
  );
  expect([errors, JSON.stringify(data)]).toEqual([undefined, expect.stringContaining('+573104567890')]);
  const lines = extensions?.upstream.requests.map(({ method, path }) => `${method} ${path}`) ?? [];
  expect([...new Set(lines)].sort()).toEqual([
    'GET /v1/channels',
    'GET /v1/channels/{id}/conversations/{id}/messages',
    'GET /v1/channels/{id}/templates',
    'GET /v1/locations',
    'GET /v1/orders',
    'GET /v1/orders/{id}',
    'GET /v1/quotes/{id}',
    'GET /v1/shipments/{id}',
  ]);
  const text = JSON.stringify(extensions);
  for (const secret of [
    waybill.sandbox.tokens.first,
    /573104567890|5320321908408|huila|pedido_confirmado/,
    /ca\d|[?=%]|pageSize/,
    /Bearer|authorization/i,
  ]) {
    expect(text).not.toMatch(secret);
  }
});

test('the cost report rounds times to tenths of a millisecond', () => {
  const callLog = new CallLog();
  const entry: CallLogEntry = {
    method: 'GET',
    route: '/v1/orders',
    status: 200,
    startMs: 0.04,
    durationMs: 20.96,
    bytes: 41_000,
    retries: 0,
    isAborted: false,
    isUnsent: false,
  };
  callLog.entries.push(entry, {
    ...entry,
    method: 'POST',
    status: undefined,
    startMs: 21.25,
    durationMs: undefined,
    bytes: 0,
    retries: 2,
  });
  callLog.cached = 1;
  callLog.savedByList = 74;
  const shownFirst = { method: 'GET', path: '/v1/orders', status: 200, startMs: 0, durationMs: 21 };
  const shownSecond = { method: 'POST', path: '/v1/orders', status: null, startMs: 21.3, durationMs: null };
  expect(operationCost(callLog)).toEqual({
    calls: 2,
    cached: 1,
    savedByList: 74,
    requests: [
      { ...shownFirst, bytes: 41_000, retries: 0 },
      { ...shownSecond, bytes: 0, retries: 2 },
    ],
  });
});
