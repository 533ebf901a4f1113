import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { maxResponseCharacters } from '../../../src/server/execution/response-size.ts';
import type { Answer } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

/** An order with long notes, and otherwise texts of the lengths that REST allows, or of usual ones. */
function order(id: string | number, notes: string, shipment?: string) {
  return {
    name: `orders/${id}`,
    createTime: '2026-11-02T14:00:00Z',
    updateTime: '2026-11-02T14:00:00Z',
    status: 'READY',
    recipient: {
      firstName: 'Inés Alejandra del Pilar',
      lastName: 'Ruiz de Santamaría y Peñalosa',
      documentType: 'CC',
      document: '1020304050',
      email: 'ines.alejandra.ruiz@correo.example.com',
      phoneNumber: '+573001112233',
      address: {
        regionCode: 'CO',
        administrativeArea: 'Valle del Cauca',
        locality: 'Santiago de Cali',
        addressLines: ['Circular 4 # 70-28, Conjunto Residencial', 'Torre 5, Apto 502'],
        organization: 'Comercializadora del Pacífico S. A. S.',
      },
      location: 'locations/valle-cali',
    },
    contentDescription: 'c'.repeat(128),
    notes,
    sellingPriceCents: 11_670_000,
    cashOnDeliveryRequestCents: 5_000_000,
    customerReliability: 'RELIABLE',
    customerBehavior: {
      totalShipments: 12,
      deliveredShipments: 11,
      returnedShipments: 1,
      reliability: 'RELIABLE',
    },
    referenceId: '5320321908408',
    referenceGid: 'gid://shop/Order/5320321908408',
    referenceUrl: `https://shop.example.com/admin/orders/${'r'.repeat(200)}`,
    paymentMethods: ['CARD', 'CASH_ON_DELIVERY'],
    fulfiller: 'REST',
    ...(shipment !== undefined && { shipment }),
  };
}

const pageSizeOf = ({ url = '' }: IncomingMessage) =>
  Number(new URL(url, 'http://service').searchParams.get('pageSize'));

/** REST, whose lists have rows with such notes, and whose single records too. A search finds rows of its own. */
const shopWithNotes =
  (notes: string): Answer =>
  (request, response, body) => {
    const { method, url = '' } = request;
    const [, , collection, id] = new URL(url, 'http://service').pathname.split('/');
    const json = () => {
      if (collection === 'organizations')
        return { name: 'organization/a', balanceCents: 1, creditLimitCents: 2 };
      if (collection === 'shipments')
        return { name: `shipments/${id}`, label: 'labels/1', courier: 'couriers/a' };
      if (method === 'PATCH') return { ...order(id ?? '', notes), ...JSON.parse(body).order, notes };
      if (id !== undefined) return order(id, notes);
      return { orders: Array.from({ length: pageSizeOf(request) }, (_, row) => order(row, notes)) };
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json()));
  };

const everyField = `id createTime updateTime status contentDescription notes sellingPrice { cents formatted }
  cashOnDelivery { cents formatted } customerReliability referenceId referenceGid referenceUrl paymentMethods fulfiller
  customerBehavior { totalShipments deliveredShipments returnedShipments reliability }
  recipient { firstName lastName fullName documentType document email phoneNumber
    address { regionCode administrativeArea locality addressLines organization } location { id } }`;

const tooLong = {
  code: 'GRAPHQL_LIMIT_EXCEEDED',
  retryable: false,
  message: expect.stringMatching(
    /^Expected a response of at most 8388608 characters, but it has \d{7,8} up to this field\. Lower "first", select fewer fields, or split the operation into several\.$/,
  ),
};

test('a page of 1,000 orders with every field and the longest notes stays complete', async () => {
  await using app = await startApp(shopWithNotes('n'.repeat(2_048)));
  const { data, errors } = await app.ask(`{ orders(first: 1000) { nodes { ${everyField} } } }`);
  expect(errors).toBeUndefined();
  const text = JSON.stringify(data);
  expect(text.length).toBeGreaterThan(3_500_000);
  expect(text.length).toBeLessThan(maxResponseCharacters / 1.5);
  expect(app.calls()).toEqual(['GET /v1/orders?pageSize=1000']);
});

/** Starts the server, and REST that answers calls with `late` in their address after all others. */
async function startWithLate(late: string, others: number, notes: string) {
  const release = Promise.withResolvers<void>();
  const answer = shopWithNotes(notes);
  let answered = 0;
  return startApp(async (request, response, body) => {
    if (request.url?.includes(late)) await release.promise;
    else
      response.on('finish', () => {
        answered += 1;
        if (answered === others) release.resolve();
      });
    await answer(request, response, body);
  });
}

test.each([
  ['nodes', '{ orders(first: 1000) { nodes { id notes } } organization { id } }'],
  ['edges', '{ orders(first: 1000) { edges { node { id notes } } } organization { id } }'],
  ['nodes', '{ orders(first: 500) { nodes { id a: notes b: notes } } organization { id } }'],
])('a list that makes the response too long is null, and the rest is valid: %s', async (list, query) => {
  await using app = await startWithLate('/v1/orders', 1, 'n'.repeat(10_000));
  const { data, errors } = await app.ask(query);
  expect(data).toEqual({ orders: null, organization: { id: 'organization/a' } });
  expect(errors).toEqual([{ path: `orders.${list}`, ...tooLong }]);
  expect(app.calls()).toHaveLength(2);
});

test('if two lists together make the response too long, only one list becomes null', async () => {
  await using app = await startApp(shopWithNotes('n'.repeat(50_000)));
  const { data, errors } = await app.ask(`{
    one: orders(first: 100) { nodes { notes } }
    other: orders(first: 100, search: "other") { nodes { notes } }
  }`);
  const lists: Record<string, unknown> = Object(data);
  const cutLists = Object.keys(lists).filter((name) => lists[name] === null);
  expect(cutLists).toHaveLength(1);
  expect(errors).toEqual([{ path: `${cutLists[0]}.nodes`, ...tooLong }]);
});

test('a record whose repeated field makes the response too long is null', async () => {
  await using app = await startApp(shopWithNotes('n'.repeat(400_000)));
  const aliases = Array.from({ length: 29 }, (_, index) => `a${index}: notes`).join(' ');
  const { data, errors } = await app.ask(`{ order(id: "a") { ${aliases} } }`);
  expect({ data, errors }).toEqual({ data: { order: null }, errors: [{ path: 'order', ...tooLong }] });
});

test('a node that exceeds the size limit is null, and the other nodes keep their data', async () => {
  await using app = await startWithLate('orders/c', 2, 'n'.repeat(4_000_000));
  const { data, errors } = await app.ask(
    '{ nodes(ids: ["orders/a", "orders/b", "orders/c"]) { id ... on Order { notes updateTime } } }',
  );
  expect(data).toMatchObject({ nodes: [{ id: 'orders/a' }, { id: 'orders/b' }, null] });
  expect(errors).toEqual([{ path: 'nodes.2', ...tooLong }]);
});

test('the results of writes are complete even if they exceed the size limit', async () => {
  const notes = 'n'.repeat(3_000_000);
  await using app = await startApp(shopWithNotes(notes));
  const update = (alias: string) =>
    `${alias}: updateOrder(input: { id: "${alias}", notes: "new" }) { ... on UpdateOrderSuccess { order { id status notes } } }`;
  const all = `all: updateOrders(inputs: [{ id: "x", notes: "new" }, { id: "y", notes: "new" }]) {
    ... on UpdateOrderSuccess { order { id status notes } } }`;
  const { data, errors } = await app.ask(`mutation { ${update('a')} ${update('b')} ${update('c')} ${all} }`);
  expect(errors).toBeUndefined();
  const updated = (id: string) => ({ order: { id: `orders/${id}`, status: 'READY', notes } });
  expect(data).toEqual({
    a: updated('a'),
    b: updated('b'),
    c: updated('c'),
    all: [updated('x'), updated('y')],
  });
  expect(app.calls().filter((call) => call.startsWith('PATCH'))).toHaveLength(5);
});

test('a list that is too long is null in the result of a write, and the rest stays', async () => {
  await using app = await startApp(shopWithNotes('n'.repeat(10_000)));
  const orders = 'recipient { orders(first: 1000) { nodes { notes } } }';
  const { data, errors } = await app.ask(`mutation {
    a: updateOrder(input: { id: "a", notes: "new" }) { ... on UpdateOrderSuccess { order { id ${orders} status } } }
    b: updateOrder(input: { id: "b", notes: "new" }) { ... on UpdateOrderSuccess { order { id status } } }
  }`);
  expect(data).toEqual({
    a: { order: { id: 'orders/a', recipient: { orders: null }, status: 'READY' } },
    b: { order: { id: 'orders/b', status: 'READY' } },
  });
  expect(errors).toEqual([{ path: 'a.order.recipient.orders.nodes', ...tooLong }]);
});
