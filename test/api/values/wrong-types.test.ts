import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startWaybill } from '../../harness.ts';

// What REST sends in another type than its interface says is an error of its field.

const sandbox = await startSeededSandbox();
const { ask, ...waybill } = await startWaybill({}, { sandbox });
afterEach(() => sandbox.faults.clear());
afterAll(async () => {
  await waybill[Symbol.asyncDispose]();
  await sandbox.close();
});

/** The value at a path of an order's JSON, in a selection of the same path. */
const cases: [change: object, field: string, selection: string][] = [
  [{ referenceId: true }, 'referenceId', 'referenceId'],
  [{ referenceId: 7 }, 'referenceId', 'referenceId'],
  [{ referenceGid: {} }, 'referenceGid', 'referenceGid'],
  [{ shipment: true }, 'shipment', 'shipment { id }'],
];
const broken: [change: object, field: string, selection: string][] = [
  [{ notes: true }, 'notes', 'notes'],
  [{ notes: 12 }, 'notes', 'notes'],
  [{ fulfiller: ['a'] }, 'fulfiller', 'fulfiller'],
  [{ status: true }, 'status', 'status'],
  [{ createTime: 1_700_000_000 }, 'createTime', 'createTime'],
  [{ sellingPriceCents: '5' }, 'sellingPrice.cents', 'sellingPrice { cents }'],
  [{ sellingPriceCents: true }, 'sellingPrice.cents', 'sellingPrice { cents }'],
];

describe('a value of the wrong type', () => {
  const send = (change: object) =>
    sandbox.faults.add({
      kind: 'change',
      path: '/v1/orders/ca2490',
      change: (order) => ({ ...(order as object), ...change }),
    });

  test.each(cases)('makes a nullable field null: %j', async (change, field, selection) => {
    send(change);
    const { data, errors } = await ask(`{ order(id: "ca2490") { id ${selection} } }`);
    expect(data).toEqual({ order: { id: 'orders/ca2490', [field]: null } });
    expect(errors).toMatchObject([
      { path: ['order', field], extensions: { code: 'UPSTREAM_INVALID_RESPONSE', retryable: false } },
    ]);
  });

  test.each(broken)('in a required field makes the record null: %j', async (change, field, selection) => {
    send(change);
    const { data, errors } = await ask(`{ order(id: "ca2490") { id ${selection} } }`);
    expect(data).toEqual({ order: null });
    expect(errors).toMatchObject([
      { path: ['order', ...field.split('.')], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } },
    ]);
  });

  test('makes the record null if an Int is expected', async () => {
    for (const deliveredShipments of [true, '5', 1.5]) {
      sandbox.faults.clear();
      sandbox.faults.add({
        kind: 'change',
        path: '/v1/orders/ca2490',
        change: (order) => ({
          ...(order as object),
          customerBehavior: { ...Object(order).customerBehavior, deliveredShipments },
        }),
      });
      const { data, errors } = await ask(
        '{ order(id: "ca2490") { customerBehavior { deliveredShipments } } }',
      );
      expect(data).toEqual({ order: null });
      expect(errors).toMatchObject([{ path: ['order', 'customerBehavior', 'deliveredShipments'] }]);
    }
  });

  test('makes the whole list null if it is a list item', async () => {
    send({ paymentMethods: ['PSE', true] });
    const { data, errors } = await ask('{ order(id: "ca2490") { paymentMethods } }');
    expect(data).toEqual({ order: { paymentMethods: null } });
    expect(errors).toMatchObject([{ path: ['order', 'paymentMethods', 1] }]);
  });

  test('makes the record null if a Boolean is expected', async () => {
    sandbox.faults.add({
      kind: 'change',
      path: '/v1/channels',
      change: (page) => ({
        ...(page as object),
        channels: [{ name: 'channels/a', type: 'chat', active: 1 }],
      }),
    });
    const { data, errors } = await ask('{ channels { nodes { id active } } }');
    expect(data).toEqual({ channels: { nodes: [null] } });
    expect(errors).toMatchObject([{ path: ['channels', 'nodes', 0, 'active'] }]);
  });

  test('makes the body of a message null', async () => {
    sandbox.faults.add({
      kind: 'change',
      path: /\/messages$/,
      change: (page) => ({
        ...(page as object),
        messages: Object(page).messages.map((message: object) => ({
          ...message,
          text: true,
          template: null,
        })),
      }),
    });
    const { data, errors } = await ask(
      '{ conversation(id: "channels/ca1/conversations/ca60") { messages(first: 1) { nodes { id body } } } }',
    );
    expect(data).toMatchObject({ conversation: { messages: { nodes: [{ body: null }] } } });
    expect(errors).toMatchObject([
      {
        path: ['conversation', 'messages', 'nodes', 0, 'body'],
        extensions: { code: 'UPSTREAM_INVALID_RESPONSE' },
      },
    ]);
  });

  test('makes a template null without an internal error', async () => {
    sandbox.faults.add({
      kind: 'change',
      path: /\/templates$/,
      change: (page) => ({
        ...(page as object),
        templates: Object(page).templates.map((template: object) => ({ ...template, body: { text: true } })),
      }),
    });
    const { data, errors } = await ask(
      '{ channel(id: "ca1") { templates(first: 1) { nodes { name body { text } preview { body } } } } }',
    );
    expect(data).toMatchObject({ channel: { templates: { nodes: [null] } } });
    expect(errors?.map(({ extensions }) => extensions.code)).toContain('UPSTREAM_INVALID_RESPONSE');
    expect(errors?.map(({ extensions }) => extensions.code)).not.toContain('INTERNAL_SERVER_ERROR');
  });
});

test('several invalid required fields of one record cause only one error', async () => {
  sandbox.faults.add({
    kind: 'change',
    path: '/v1/orders/ca2490',
    change: (order) => ({ ...(order as object), notes: true, fulfiller: true, recipient: null }),
  });
  const { data, errors } = await ask('{ order(id: "ca2490") { notes fulfiller recipient { email } } }');
  expect(data).toEqual({ order: null });
  expect(errors).toHaveLength(1);
});
