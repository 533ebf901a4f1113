import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { order as orderInput } from '../../fixtures/order-to-create.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

// REST's lists show for a while what was before a write. Its reads by id show the write.

let waybill: Waybill;
let elapsedMs = 0;
beforeEach(async () => {
  elapsedMs = 0;
  // The clock goes a thousand times slower: on a busy machine, 30 seconds must not pass within a test.
  const now = performance.now.bind(performance);
  const startMs = now();
  vi.spyOn(performance, 'now').mockImplementation(() => startMs + (now() - startMs) / 1_000 + elapsedMs);
  waybill = await startWaybill();
});
afterEach(() => waybill[Symbol.asyncDispose]());

interface Row {
  name: string;
  shipment?: string;
}

/** Makes the list of a collection show the rows of now from here on. */
async function freezeList(collection: 'orders' | 'shipments'): Promise<Row[]> {
  const path = `/v1/${collection}`;
  const response = await fetch(`${waybill.sandbox.url}${path}?pageSize=1000`, {
    headers: { authorization: `Bearer ${waybill.sandbox.tokens.first}` },
  });
  const rows: Row[] = (await response.json())[collection];
  const rowByName = new Map(rows.map((row) => [row.name, row]));
  waybill.sandbox.faults.add({
    kind: 'change',
    method: 'GET',
    path,
    // The cast is safe: the sandbox sends a list.
    change(answer) {
      const page = answer as Record<string, Row[]>;
      return { ...page, [collection]: page[collection]?.flatMap(({ name }) => rowByName.get(name) ?? []) };
    },
  });
  return rows;
}

const nodesQuery = `query ($ids: [ID!]!) {
  nodes(ids: $ids) { id ... on Order { status notes shipment { id } } ... on Shipment { shipmentStatus: status } }
}`;

type Node = { id: string; status: string; notes?: string; shipment?: { id: string } | null };

/** Reads records by their ids. `calls` have no page size, because a token learns it. */
async function nodes(ids: string[], bearer?: string) {
  const { data, errors, calls } = await waybill.ask<{ nodes: Node[] }, object>(nodesQuery, { ids }, bearer);
  expect(errors).toBeUndefined();
  const byId = new Map(data.nodes.map((node) => [node.id, node]));
  return { byId, calls: calls.map((call) => call.replace(/\?pageSize=\d+$/, '?page')).sort() };
}

async function mutate(mutation: string, input: object, fields = '__typename') {
  const type = mutation.replace(/^./, (letter) => letter.toUpperCase());
  const document = `mutation ($input: ${type}Input!) { result: ${mutation}(input: $input) { ${fields} } }`;
  const { data } = await waybill.ask<{ result: Record<string, unknown> }, object>(document, { input });
  return data.result;
}

/** Ten orders of a page of the list, frozen, 30 seconds after all writes. A batch has compared a row. */
async function tenOrders(): Promise<string[]> {
  elapsedMs += 30_001;
  const ids = (await freezeList('orders')).slice(0, 10).map(({ name }) => name);
  await nodes(ids);
  expect((await nodes(ids)).calls).toEqual(['GET /v1/orders?page']);
  return ids;
}

describe('a batch of orders after a write', () => {
  test('reads the updated order by its id, and the others from the list', async () => {
    const ids = await tenOrders();
    const updated = ids[3] ?? '';
    await mutate('updateOrder', { id: updated, notes: 'Changed' });
    const { byId, calls } = await nodes(ids);
    expect(byId.get(updated)?.notes).toBe('Changed');
    expect([...byId.keys()]).toEqual(ids);
    expect(calls).toEqual([`GET /v1/${updated}`, 'GET /v1/orders?page']);
  });

  test('reads each updated order by its id after updateOrders', async () => {
    const ids = await tenOrders();
    const inputs = ids.slice(0, 3).map((id) => ({ id, notes: 'Changed' }));
    await waybill.ask(
      'mutation ($inputs: [UpdateOrderInput!]!) { updateOrders(inputs: $inputs) { __typename } }',
      {
        inputs,
      },
    );
    const { byId, calls } = await nodes(ids);
    expect(inputs.map(({ id }) => byId.get(id)?.notes)).toEqual(['Changed', 'Changed', 'Changed']);
    expect(calls).toEqual([...inputs.map(({ id }) => `GET /v1/${id}`), 'GET /v1/orders?page'].sort());
  });

  test('reads an order by its id after an update without a response', async () => {
    const ids = await tenOrders();
    const updated = ids[3] ?? '';
    waybill.sandbox.faults.add({ method: 'PATCH', kind: 'applied-then-cut', times: 1 });
    const result = await mutate('updateOrder', { id: updated, notes: 'Changed' });
    expect(result).toEqual({ __typename: 'OutcomeUnknown' });
    const { byId, calls } = await nodes(ids);
    expect(byId.get(updated)?.notes).toBe('Changed');
    expect(calls).toEqual([`GET /v1/${updated}`, 'GET /v1/orders?page']);
  });

  test('reads the shipped order by its id', async () => {
    const input = await orderToShip(waybill);
    const ids = await tenOrders();
    expect(ids).toContain(input.order);
    const { shipment } = await mutate('shipOrder', input, '... on ShipOrderSuccess { shipment { id } }');
    const { byId, calls } = await nodes(ids);
    expect(byId.get(input.order)).toMatchObject({ shipment });
    expect(calls).toEqual([`GET /v1/${input.order}`, 'GET /v1/orders?page']);
  });

  /** The input of createShipment for an order, from a new quote. */
  async function shipmentInput(key: object) {
    const { order, origin, package: parcel } = await orderToShip(waybill);
    const { quote } = await mutate(
      'createQuote',
      {
        origin: 'locations/huila-pitalito',
        destination: orderInput.recipient.location,
        package: parcel,
        order,
      },
      '... on CreateQuoteSuccess { quote { id offers { available courier { id } } } }',
    );
    // The cast is safe: the query has this form.
    const { id, offers } = quote as { id: string; offers: { available: boolean; courier: { id: string } }[] };
    const courier = offers.find(({ available }) => available)?.courier.id;
    const { location: _, ...recipient } = orderInput.recipient;
    return { order, input: { quote: id, courier, origin, recipient, requiresPickup: true, ...key } };
  }

  test('reads the order by its id after createShipment with a key', async () => {
    const { order, input } = await shipmentInput({ idempotencyKey: 'k' });
    const ids = await tenOrders();
    const { shipment } = await mutate(
      'createShipment',
      input,
      '... on CreateShipmentSuccess { shipment { id } }',
    );
    const { byId, calls } = await nodes(ids);
    expect(byId.get(order)).toMatchObject({ shipment });
    expect(calls).toEqual([`GET /v1/${order}`, 'GET /v1/orders?page']);
  });

  test('reads the order by its id after createShipment without a key', async () => {
    const { order, input } = await shipmentInput({});
    const ids = await tenOrders();
    const { shipment } = await mutate(
      'createShipment',
      input,
      '... on CreateShipmentSuccess { shipment { id } }',
    );
    const { byId, calls } = await nodes(ids);
    expect(byId.get(order)).toMatchObject({ shipment });
    expect(calls).toEqual([`GET /v1/${order}`, 'GET /v1/orders?page']);
  });

  test('reads new orders by their ids', async () => {
    const ids = await tenOrders();
    const { order } = await mutate('createOrder', orderInput, '... on CreateOrderSuccess { order { id } }');
    // The cast is safe: the query has this form.
    const created = (order as { id: string }).id;
    const { byId, calls } = await nodes([...ids, created]);
    expect(byId.get(created)).toMatchObject({ id: created, status: 'NEW' });
    expect(calls).toEqual(['GET /v1/orders?page', `GET /v1/${created}`].sort());
  });

  test('takes all rows from the list again after 30 seconds', async () => {
    const ids = await tenOrders();
    const updated = ids[3] ?? '';
    await mutate('updateOrder', { id: updated, notes: 'Changed' });
    elapsedMs += 29_000;
    expect((await nodes(ids)).calls).toEqual([`GET /v1/${updated}`, 'GET /v1/orders?page']);
    elapsedMs += 2_000;
    expect((await nodes(ids)).calls).toEqual(['GET /v1/orders?page']);
  });

  test('of another token takes all rows from the list', async () => {
    const ids = await tenOrders();
    await mutate('updateOrder', { id: ids[3] ?? '', notes: 'Changed' });
    const { calls } = await nodes(ids, 'sandbox-cafe-andino-2');
    expect(calls).toEqual(['GET /v1/orders?page']);
  });
});

describe('a batch of shipments after a write', () => {
  const board = `query { orders(first: 10) { nodes { id shipment { id status } } } }`;

  async function readBoard() {
    const { data, calls } = await waybill.ask<{ orders: { nodes: Node[] } }, object>(board);
    const shipments = data.orders.nodes.flatMap(({ shipment }) => shipment ?? []);
    return { shipments, calls: calls.map((call) => call.replace(/\?pageSize=\d+$/, '?page')).sort() };
  }

  /** Ships ten orders, so that each row of the board has a shipment in the frozen list. */
  async function shipTen() {
    const inputs = [];
    for (let count = 0; count < 10; count += 1) inputs.push(await orderToShip(waybill));
    await waybill.ask(
      'mutation ($inputs: [ShipOrderInput!]!) { shipOrders(inputs: $inputs) { __typename } }',
      {
        inputs,
      },
    );
    const orders = (await freezeList('orders')).slice(0, 10);
    await freezeList('shipments');
    elapsedMs += 30_001;
    await readBoard();
    return orders;
  }

  const lists = ['GET /v1/orders?page', 'GET /v1/shipments?page'];

  test('reads the shipment of a cancelled order by its id', async () => {
    const [order] = await shipTen();
    expect((await readBoard()).calls).toEqual(lists);
    await mutate('updateOrder', { id: order?.name, status: 'CANCELLED' });
    const { shipments, calls } = await readBoard();
    expect(shipments[0]).toMatchObject({ id: order?.shipment, status: expect.stringMatching(/^CANCEL/) });
    expect(calls).toEqual([...lists, `GET /v1/${order?.shipment}`].sort());
  });

  test('reads new shipments by their ids, and the others from the list', async () => {
    const orders = await shipTen();
    const input = await orderToShip(waybill);
    const { shipment } = await mutate('shipOrder', input, '... on ShipOrderSuccess { shipment { id } }');
    // The cast is safe: the query has this form.
    const created = (shipment as { id: string }).id;
    const ids = [created, ...orders.map((order) => order.shipment ?? '')];
    const { byId, calls } = await nodes(ids);
    expect(byId.size).toBe(11);
    expect(calls).toEqual(['GET /v1/shipments?page', `GET /v1/${created}`].sort());
  });
});

test('orderByReference reads the found order by its id after a write', async () => {
  const referenceId = 'web-7';
  const { order } = await mutate(
    'createOrder',
    { ...orderInput, referenceId },
    '... on CreateOrderSuccess { order { id } }',
  );
  // The cast is safe: the query has this form.
  const { id } = order as { id: string };
  await freezeList('orders');
  await mutate('updateOrder', { id, notes: 'Changed' });
  const query = `{ orderByReference(referenceId: "${referenceId}") { notes } }`;
  const search = `GET /v1/orders?pageSize=100&search=${referenceId}`;
  expect(await waybill.ask(query)).toMatchObject({
    data: { orderByReference: { notes: 'Changed' } },
    calls: [search, `GET /v1/${id}`],
  });
  elapsedMs += 31_000;
  expect((await waybill.ask(query)).calls).toEqual([search]);
});

test('a page of orders in the same query does not replace the record that was written', async () => {
  const ids = await tenOrders();
  const updated = ids[0] ?? '';
  await mutate('updateOrder', { id: updated, notes: 'Changed' });
  const { data, calls } = await waybill.ask<{ orders: { nodes: Node[] }; node: Node }, object>(
    `query ($id: ID!) { orders(first: 10) { nodes { id } } node(id: $id) { id ... on Order { notes } } }`,
    { id: updated },
  );
  expect(data.node.notes).toBe('Changed');
  expect(calls.sort()).toEqual([`GET /v1/${updated}`, 'GET /v1/orders?pageSize=10'].sort());
});
