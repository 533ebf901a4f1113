import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buildSchema, isObjectType, parse, print, validate } from 'graphql';
import {
  type ConcreteRequest,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  Network,
  RecordSource,
  Store,
  type Variables,
} from 'relay-runtime';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startWaybill } from '../../harness.ts';
import labelRequest from './__generated__/documentsLabelSubscription.graphql.ts';
import nodeRequest from './__generated__/documentsNodeQuery.graphql.ts';
import orderRequest from './__generated__/documentsOrderQuery.graphql.ts';
import sendMessageRequest from './__generated__/documentsSendMessageMutation.graphql.ts';
import stuckShipmentsRequest from './__generated__/documentsStuckShipmentsQuery.graphql.ts';
import updateOrderRequest from './__generated__/documentsUpdateOrderMutation.graphql.ts';
import {
  labelSubscription,
  nodeQuery,
  orderQuery,
  sendMessageMutation,
  stuckShipmentsQuery,
  updateOrderMutation,
} from './documents.ts';

const { ask, sandbox, ...waybill } = await startWaybill();

/** Relay warns on the console, of an id that two types share and of a field that the answer lacks, and goes on. */
const warnings: unknown[][] = [];

beforeEach(
  () => void vi.spyOn(console, 'error').mockImplementation((...warning) => void warnings.push(warning)),
);
afterEach(() => {
  sandbox.faults.clear();
  const unexpected = warnings.splice(0);
  expect(unexpected).toEqual([]);
});
afterAll(() => waybill[Symbol.asyncDispose]());

/** Relay as an application has it, its network and its store, before this server. */
function startRelay() {
  const source = new RecordSource();
  const environment = new Environment({
    network: Network.create(async ({ text }, variables) => {
      const response = await waybill.fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${sandbox.tokens.first}` },
        body: JSON.stringify({ query: text, variables }),
      });
      return response.json();
    }),
    store: new Store(source),
  });
  /** What the store, without the server, has for an operation; no field may be missing. */
  function read(request: ConcreteRequest, variables: Variables) {
    const operation = createOperationDescriptor(request, variables);
    const { data, isMissingData } = environment.lookup(operation.fragment);
    expect(isMissingData).toBe(false);
    return data;
  }
  return {
    environment,
    read,
    record: (dataId: string) => source.get(dataId),
    ids: () => source.getRecordIDs(),
    query: (request: ConcreteRequest, variables: Variables) =>
      fetchQuery(environment, request, variables).toPromise(),
    async mutate(request: ConcreteRequest, variables: Variables) {
      const operation = createOperationDescriptor(request, variables);
      // What commitMutation does, which leaves what goes wrong afterwards uncaught.
      await environment.executeMutation({ operation }).toPromise();
      return read(request, variables);
    },
  };
}

const id = 'orders/ca2481';

describe('the compiled documents', () => {
  const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

  test.each([
    [labelRequest, labelSubscription],
    [orderRequest, orderQuery],
    [nodeRequest, nodeQuery],
    [updateOrderRequest, updateOrderMutation],
    [sendMessageRequest, sendMessageMutation],
    [stuckShipmentsRequest, stuckShipmentsQuery],
  ])('match documents.ts and the schema: $params.name', (request, document) => {
    const text = request.params.text ?? '';
    const md5 = (value: string) => createHash('md5').update(value).digest('hex');
    expect(request).toMatchObject({ hash: md5(print(parse(document))), params: { cacheID: md5(text) } });
    expect(validate(schema, parse(text))).toEqual([]);
  });

  // relay-compiler asks for every `id` that there is, and the store keeps under it what has one.
  test('can select ids only on nodes, labels and messages', () => {
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const withId = types.filter((type) => type.getFields().id !== undefined);
    const others = withId.filter((type) => !type.getInterfaces().some(({ name }) => name === 'Node'));
    expect(others.map(({ name }) => name).sort()).toEqual(['Label', 'Message']);
  });
});

describe('the Relay store', () => {
  test('stores an order, its shipment and its label by id', async () => {
    const relay = startRelay();
    const data = await relay.query(orderRequest, { id });
    const label = { id: 'labels/ca2036', url: expect.stringContaining('/signed/labels/ca2036.pdf') };
    expect(data).toMatchObject({ order: { id, shipment: { id: 'shipments/ca2036', label } } });
    expect(relay.read(orderRequest, { id })).toEqual(data);
    expect(relay.record(id)).toMatchObject({ __typename: 'Order', shipment: { __ref: 'shipments/ca2036' } });
    expect(relay.record('shipments/ca2036')).toMatchObject({ label: { __ref: label.id } });
  });

  test('keeps an order unchanged if its update returns NotFound', async () => {
    const relay = startRelay();
    const data = await relay.query(orderRequest, { id });
    const before = structuredClone(relay.record(id));
    sandbox.faults.add({ kind: 'status', method: 'PATCH', status: 410 });
    expect(await relay.mutate(updateOrderRequest, { input: { id, notes: 'Hola' } })).toEqual({
      updateOrder: { __typename: 'NotFound', message: expect.any(String), missingId: id },
    });
    expect(relay.record(id)).toEqual(before);
    expect(relay.read(orderRequest, { id })).toEqual(data);
  });

  test('updates an order in all queries after node() reads the order again', async () => {
    const relay = startRelay();
    const id = 'orders/ca2490';
    await relay.query(orderRequest, { id });
    await ask('mutation ($id: ID!) { updateOrder(input: { id: $id, notes: "Hola" }) { __typename } }', {
      id,
    });
    expect(await relay.query(nodeRequest, { id })).toMatchObject({ node: { notes: 'Hola' } });
    expect(relay.read(orderRequest, { id })).toMatchObject({ order: { id, notes: 'Hola' } });
  });

  test('stores a sent message by id', async () => {
    const relay = startRelay();
    const input = { conversation: 'channels/ca1/conversations/ca57', content: { text: 'Hola' } };
    const data = await relay.mutate(sendMessageRequest, { input });
    const sent = { id: expect.stringMatching(/\/messages\/m\d+$/), text: 'Hola' };
    expect(data).toEqual({ sendMessage: { __typename: 'SendMessageSuccess', sent } });
    const id = relay.ids().find((dataId) => dataId.startsWith(`${input.conversation}/messages/`)) ?? '';
    expect(relay.record(id)).toMatchObject({ __typename: 'Message', text: 'Hola' });
  });

  test('accepts an InvalidInput result of sendMessage', async () => {
    const relay = startRelay();
    const input = { conversation: 'channels/ca1/conversations/ca57', content: { text: '' } };
    const data = await relay.mutate(sendMessageRequest, { input });
    expect(data).toEqual({ sendMessage: { __typename: 'InvalidInput', message: expect.any(String) } });
  });

  // So that no warning above means that there was none to give.
  test('warns about an id that two types share', () => {
    const operation = createOperationDescriptor(orderRequest, { id });
    const order = { id, status: 'NEW', notes: 'Hola', shipment: { id, label: null } };
    startRelay().environment.commitPayload(operation, { order });
    const expected = expect.stringContaining('conflicting types `Order` and `Shipment`');
    expect(warnings.splice(0)).toEqual([[expected]]);
  });
});
