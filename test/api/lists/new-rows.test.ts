import { expect, test } from 'vitest';
import { OrderEdgesDocument, OrderNamesDocument } from '../../documents.generated.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const order = {
  recipient: {
    firstName: 'Inés',
    lastName: 'Ruiz',
    email: 'ines.ruiz@example.com',
    phoneNumber: '+573001112233',
    address: { addressLines: ['Calle 1 # 2-3'] },
    location: 'locations/huila-pitalito',
  },
  contentDescription: 'Café',
  notes: 'Sin observaciones',
  sellingPriceCents: 100,
  cashOnDeliveryRequestCents: 0,
};

/** Records so many orders with the sandbox, past the server. */
async function createOrders({ sandbox }: Waybill, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const response = await fetch(`${sandbox.url}/v1/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.first}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
    expect(response.status).toBe(201);
  }
}

const names = (nodes: readonly ({ id: string } | null)[]) => nodes.map((node) => node?.id);
const next = ['orders/ca2498', 'orders/ca2497', 'orders/ca2496'];
const token = '[\\w-]{32}';

test('orders that are created between two pages cause no repeated or skipped rows', async () => {
  await using waybill = await startWaybill();
  const first = await waybill.ask(OrderNamesDocument, { first: 2 });
  expect(names(first.data.orders.nodes)).toEqual(['orders/ca2500', 'orders/ca2499']);
  await createOrders(waybill, 3);
  const { endCursor } = first.data.orders.pageInfo;
  const second = await waybill.ask(OrderNamesDocument, { first: 3, after: endCursor });
  expect(names(second.data.orders.nodes)).toEqual(next);
  expect(second.calls).toEqual([expect.stringMatching(`^GET /v1/orders\\?pageSize=3&pageToken=${token}$`)]);
  const again = await waybill.ask(OrderNamesDocument, { first: 4 });
  expect(names(again.data.orders.nodes)).toEqual([
    'orders/ca2503',
    'orders/ca2502',
    'orders/ca2501',
    'orders/ca2500',
  ]);
});

test('a cursor resumes after the same row if new orders move the row down the page', async () => {
  await using waybill = await startWaybill();
  const { data: page } = await waybill.ask(OrderEdgesDocument, { first: 5 });
  await createOrders(waybill, 1);
  const after = page.orders.edges[1]?.cursor ?? null;
  const { data, calls } = await waybill.ask(OrderNamesDocument, { first: 3, after });
  expect(names(data.orders.nodes)).toEqual(next);
  expect(calls).toEqual([
    'GET /v1/orders?pageSize=5',
    expect.stringMatching(`^GET /v1/orders\\?pageSize=2&pageToken=${token}$`),
  ]);
});

test('a cursor resumes after the same row if new orders move the row off the page', async () => {
  await using waybill = await startWaybill();
  const { data: page } = await waybill.ask(OrderEdgesDocument, { first: 5 });
  await createOrders(waybill, 12);
  const after = page.orders.edges[1]?.cursor ?? null;
  const { data, calls } = await waybill.ask(OrderNamesDocument, { first: 3, after });
  expect(names(data.orders.nodes)).toEqual(next);
  expect(calls).toEqual(['GET /v1/orders?pageSize=5', 'GET /v1/orders?pageSize=1000']);
});
