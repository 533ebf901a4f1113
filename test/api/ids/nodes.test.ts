import { isObjectType } from 'graphql';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { NodeLookupDocument, NodesLookupDocument } from '../../documents.generated.ts';
import { knownRecords as nodes } from '../../fixtures/known-records.ts';
import { startWaybill } from '../../harness.ts';

const waybill = await startWaybill();
const { ask, sandbox } = waybill;

afterEach(() => sandbox.faults.clear());
afterAll(() => waybill[Symbol.asyncDispose]());

describe('node', () => {
  test('is tested for each type that implements Node', () => {
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const typenames = types.filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'));
    expect(nodes.map(({ typename }) => typename).sort()).toEqual(typenames.map(({ name }) => name).sort());
  });

  test.each(nodes)('finds $id as $typename', async ({ typename, id, calls }) => {
    const answer = await ask(NodeLookupDocument, { id });
    expect(answer).toEqual({
      status: 200,
      data: { node: { __typename: typename, id } },
      errors: undefined,
      calls,
    });
  });

  test.each(nodes.filter(({ missing }) => missing !== undefined))(
    'is null for an unknown id: $missing',
    async ({ missing = '' }) => {
      const { status, data, errors, calls } = await ask(NodeLookupDocument, { id: missing });
      expect({ status, data, errors }).toEqual({ status: 200, data: { node: null }, errors: undefined });
      expect(calls).toHaveLength(1);
    },
  );

  test('is null for a record of another merchant', async () => {
    const ofAll = ['Location', 'Conversation', 'Courier'];
    for (const { id } of nodes.filter(({ typename }) => !ofAll.includes(typename))) {
      const { data, errors } = await ask(NodeLookupDocument, { id }, sandbox.tokens.second);
      expect({ id, data, errors }).toEqual({ id, data: { node: null }, errors: undefined });
    }
  });

  test.each([
    'ca2481',
    'order/ca2481',
    'Orders/ca2481',
    'couriers/',
    'courier/rutandina',
    'organizations/mine',
    'messages/m001',
    'channels/ca1/templates/1',
    'channels/ca1/conversations/ca58/messages/',
    'label/ca0001',
    'orders/',
    '/ca2481',
    'orders/ca2481/',
    ' orders/ca2481',
  ])('rejects any string that is not a full id: %j', async (id) => {
    const { status, data, errors, calls } = await ask(NodeLookupDocument, { id });
    expect({ status, data }).toEqual({ status: 200, data: { node: null } });
    expect(errors).toEqual([
      {
        message: `Expected a full id, such as "orders/abc", but got ${JSON.stringify(id)}.`,
        locations: [{ line: 2, column: 3 }],
        path: ['node'],
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      },
    ]);
    expect(calls).toEqual([]);
  });

  test.each([
    [
      'channels/ca1/conversations/ca58/messages/m001',
      'Read a message with its conversation: ' +
        'conversation(id: "channels/ca1/conversations/ca58") { messages { nodes { id } } }.',
    ],
    ['labels/ca0001', 'Read a label with its shipment: shipment(id: …) { label { id url pdfUrl } }.'],
  ])('explains how to read a record that cannot be read by its id: %j', async (id, instead) => {
    const { status, data, errors, calls } = await ask(NodeLookupDocument, { id });
    expect({ status, data }).toEqual({ status: 200, data: { node: null } });
    expect(errors).toEqual([
      {
        message: `"${id}" cannot be read by its id, because the REST service has no call for that. ${instead}`,
        locations: [{ line: 2, column: 3 }],
        path: ['node'],
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      },
    ]);
    expect(calls).toEqual([]);
  });
});

describe('nodes', () => {
  test('returns the records in the order of the ids', async () => {
    const backwards = nodes.toReversed();
    const { data, errors, calls } = await ask(NodesLookupDocument, { ids: backwards.map(({ id }) => id) });
    expect({ data, errors }).toEqual({
      data: { nodes: backwards.map(({ typename, id }) => ({ __typename: typename, id })) },
      errors: undefined,
    });
    expect(calls.toSorted()).toEqual(nodes.flatMap((node) => node.calls).sort());
  });

  test('sends one call for an id that occurs twice', async () => {
    const { data, calls } = await ask(NodesLookupDocument, { ids: ['orders/ca2481', 'orders/ca2481'] });
    const order = { __typename: 'Order', id: 'orders/ca2481' };
    expect(data).toEqual({ nodes: [order, order] });
    expect(calls).toEqual(['GET /v1/orders/ca2481']);
  });

  test('returns an empty list for an empty list of ids', async () => {
    const { data, calls } = await ask(NodesLookupDocument, { ids: [] });
    expect({ data, calls }).toEqual({ data: { nodes: [] }, calls: [] });
  });

  test('returns the other records if an id is unknown or malformed, or if its GET fails', async () => {
    sandbox.faults.add({ path: '/v1/quotes/ca0001', kind: 'status', status: 500 });
    const ids = ['orders/ca2481', 'quotes/ca0001', 'bad', 'orders/x', 'shipments/ca0001'];
    const { status, data, errors, calls } = await ask(NodesLookupDocument, { ids });
    expect({ status, data }).toEqual({
      status: 200,
      data: {
        nodes: [
          { __typename: 'Order', id: 'orders/ca2481' },
          null,
          null,
          null,
          { __typename: 'Shipment', id: 'shipments/ca0001' },
        ],
      },
    });
    expect(errors?.toSorted((a, b) => (String(a.path) < String(b.path) ? -1 : 1))).toMatchObject([
      { path: ['nodes', 1], extensions: { code: 'UPSTREAM_ERROR', upstreamStatus: 500 } },
      { path: ['nodes', 2], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(calls.toSorted()).toEqual([
      'GET /v1/orders/ca2481',
      'GET /v1/orders/x',
      'GET /v1/quotes/ca0001',
      'GET /v1/shipments/ca0001',
    ]);
  });

  test('returns null at the position of a failed id', async () => {
    // This one fails some 20 ms after all others are there.
    sandbox.faults.add({ path: '/v1/quotes/ca0001', kind: 'reset-in-body' });
    const [order, quote, bad] = ['orders/ca2481', 'quotes/ca0001', 'bad'];
    const lists = [
      [order, bad],
      [bad, order],
      [quote, order],
      [order, quote],
      [bad, quote, bad],
      [quote, bad, order],
    ];
    for (const ids of lists) {
      const { data, errors } = await ask(NodesLookupDocument, { ids });
      expect(data).toEqual({
        nodes: ids.map((id) => (id === order ? { __typename: 'Order', id: order } : null)),
      });
      expect(errors?.map(({ path }) => path?.[1]).sort()).toEqual(
        ids.flatMap((id, index) => (id === order ? [] : [index])),
      );
    }
  });

  test('accepts at most 100 ids', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `orders/ca${String(index + 1).padStart(4, '0')}`);
    const refused = await ask(NodesLookupDocument, { ids });
    const message = 'Expected at most 100 ids, but got 101.';
    expect(refused).toMatchObject({ status: 200, data: null, errors: [{ message }], calls: [] });

    const taken = await ask(NodesLookupDocument, { ids: ids.slice(0, 100) });
    expect(taken.data.nodes.map((node) => node?.id)).toEqual(ids.slice(0, 100));
    // The oldest orders there are: the newest 200 were worth a look.
    expect(taken.calls.toSorted()).toEqual([
      ...ids.slice(0, 100).map((id) => `GET /v1/${id}`),
      'GET /v1/orders?pageSize=200',
    ]);
  });
});

test('a variable in a list literal is evaluated for each request', async () => {
  const document = 'query ($id: ID!) { nodes(ids: [$id, "couriers/rutandina"]) { id } }';
  for (const id of ['orders/ca2481', 'shipments/ca2036', 'orders/ca2490']) {
    const { data } = await waybill.ask(document, { id });
    expect(data).toEqual({ nodes: [{ id }, { id: 'couriers/rutandina' }] });
  }
});

test('a variable in an object literal is evaluated for each request', async () => {
  const document = `query ($value: String!) { channel(id: "ca1") { template(name: "pedido_confirmado", language: "en") {
    preview(headerParameters: [{ name: "1", value: $value }]) { header }
  } } }`;
  for (const value of ['uno', 'dos']) {
    const { data } = await waybill.ask(document, { value });
    const header = `Order ${value} confirmed ✅`;
    expect(data).toEqual({ channel: { template: { preview: { header } } } });
  }
});
