import { afterAll, describe, expect, test } from 'vitest';
import { ShipOrderDocument } from '../../documents.generated.ts';
import { orderInput, parcel } from '../../fixtures/order-to-ship.ts';
import { startWaybill } from '../../harness.ts';

// The interface names no alphabet for identifiers: `_V1St`, `-abc`, `CO:05001`, `a+b=`, `é` and `50%?#` are some.

const waybill = await startWaybill({ MAX_NODES: '5000' }, { quirks: { identifiers: 'mixed' } });
const { ask, sandbox } = waybill;
afterAll(() => waybill[Symbol.asyncDispose]());

interface Node {
  id: string;
}
interface Nodes {
  nodes: Node[];
}

/** The starts of mixed identifiers, one of each that are among these ids. */
function oneOfEach(nodes: readonly Node[]): string[] {
  const byStart = new Map(
    nodes.map(({ id }) => [id.replace(/^[a-z]+\//, '').replace(/[a-z]{2,}\d+$/, ''), id]),
  );
  return [...byStart.values()];
}

async function idsOf(list: string, first: number): Promise<string[]> {
  const { data } = await ask<Record<string, Nodes>, unknown>(`{ ${list}(first: ${first}) { nodes { id } } }`);
  return oneOfEach(data[list]?.nodes ?? []);
}

describe.each([
  ['order', 'orders', 100],
  ['shipment', 'shipments', 100],
  ['origin', 'origins', 10],
  ['location', 'locations', 100],
  ['channel', 'channels', 10],
])('any %s with an unusual identifier', (field, list, first) => {
  test('is found by its full id, by its bare identifier and as a node', async () => {
    const ids = await idsOf(list, first);
    expect(ids.length).toBeGreaterThan(0);
    for (const id of ids) {
      for (const given of [id, id.slice(id.indexOf('/') + 1)]) {
        const { data, errors } = await ask(`query ($id: ID!) { ${field}(id: $id) { id } }`, { id: given });
        expect([data, errors]).toEqual([{ [field]: { id } }, undefined]);
      }
      const { data } = await ask('query ($id: ID!) { node(id: $id) { id } }', { id });
      expect(data).toEqual({ node: { id } });
    }
  });
});

test('unusual identifiers of orders are percent-encoded in paths', async () => {
  const ids = await idsOf('orders', 100);
  expect(ids.length).toBe(6);
  for (const id of ids) {
    const { calls } = await ask('query ($id: ID!) { order(id: $id) { id } }', { id });
    expect(calls).toEqual([`GET /v1/orders/${encodeURIComponent(id.slice('orders/'.length))}`]);
  }
});

test('relations resolve between records with unusual identifiers', async () => {
  const { data, errors } = await ask<{ orders: { nodes: { shipment: Node | null }[] } }, unknown>(
    `{ orders(first: 100) { nodes { id recipient { location { id locality } } shipment {
      id status quote { id offers { courier { id code } } } origin { id location { id locality } } label { id url pdfUrl }
    } } } }`,
  );
  expect(errors).toBeUndefined();
  expect(data.orders.nodes.filter(({ shipment }) => shipment !== null).length).toBeGreaterThan(50);
});

test('labels of shipments with unusual identifiers are served at pdfUrl', async () => {
  const { data } = await ask<
    { shipments: { nodes: { id: string; label: { pdfUrl: string } | null }[] } },
    unknown
  >('{ shipments(first: 60) { nodes { id label { pdfUrl } } } }');
  const labelled = data.shipments.nodes.filter(({ label }) => label !== null);
  for (const id of oneOfEach(labelled)) {
    const address = new URL(labelled.find((shipment) => shipment.id === id)?.label?.pdfUrl ?? '');
    const response = await waybill.fetch(address.pathname, {
      headers: { authorization: `Bearer ${sandbox.tokens.first}` },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    const bare = id.slice('shipments/'.length);
    const isPlain = /^[\w.~-]+$/.test(bare);
    expect(response.headers.get('content-disposition')).toBe(
      isPlain
        ? `inline; filename="label-${bare}.pdf"`
        : `inline; filename="label-${bare.replace(/[^\w.~-]/g, '_')}.pdf"; filename*=UTF-8''label-${encodeURIComponent(bare)}.pdf`,
    );
    await response.arrayBuffer();
  }
});

test('an order with an unusual identifier can be created, updated and shipped', async () => {
  const [location = ''] = await idsOf('locations', 100);
  const [origin = ''] = await idsOf('origins', 10);
  const input = { ...orderInput, recipient: { ...orderInput.recipient, location } };
  const created = await ask<{ createOrder: { order: Node } }, unknown>(
    'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { ... on CreateOrderSuccess { order { id } } } }',
    { input },
  );
  const { id } = created.data.createOrder.order;
  const updated = await ask(
    'mutation ($id: ID!) { updateOrder(input: { id: $id, notes: "changed" }) { ... on UpdateOrderSuccess { order { notes } } } }',
    { id },
  );
  expect(updated.data).toEqual({ updateOrder: { order: { notes: 'changed' } } });
  const shipped = await ask(ShipOrderDocument, { input: { order: id, origin, package: parcel } });
  expect(shipped.data.shipOrder).toMatchObject({ __typename: 'ShipOrderSuccess', order: { id } });
});

test('a conversation with an unusual identifier returns its messages', async () => {
  const [channel = ''] = await idsOf('channels', 10);
  const sent = await ask<{ sendMessageToPhone: { sent: { id: string; conversation: Node } } }, unknown>(
    `mutation ($channel: ID!) {
      sendMessageToPhone(input: { channel: $channel, phone: "+573001112233", name: "Inés", text: "Hola" }) {
        ... on SendMessageSuccess { sent { id conversation { id } } }
      }
    }`,
    { channel },
  );
  const { id, conversation } = sent.data.sendMessageToPhone.sent;
  const { data, errors } = await ask(
    'query ($id: ID!) { conversation(id: $id) { id channel { id active } messages(first: 1) { nodes { id text } } } }',
    { id: conversation.id },
  );
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    conversation: {
      id: conversation.id,
      channel: { id: channel, active: expect.any(Boolean) },
      messages: { nodes: [{ id, text: 'Hola' }] },
    },
  });
});
