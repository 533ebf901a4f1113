import { afterAll, beforeAll, expect, test } from 'vitest';
import { RecordOrderDocument, ShipToLabelDocument } from '../../documents.generated.ts';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { orderInput, parcel } from '../../fixtures/order-to-ship.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

let waybill: Waybill;
beforeAll(async () => {
  waybill = await startWaybill();
});
afterAll(() => waybill[Symbol.asyncDispose]());

// REST asks for the location of an origin too, which its client has to know.
const origin = { name: 'origins/ca4', location: 'locations/huila-pitalito' };

/** What a client has sent, in order, to get from a new order to the URL of its label. */
interface Way {
  requests: string[];
  labelUrl: unknown;
}

async function byRest(): Promise<Way> {
  const { url, tokens } = waybill.sandbox;
  const requests: string[] = [];
  async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    requests.push(`${method} ${path}`);
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${tokens.first}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.ok, requests.at(-1)).toBe(true);
    return response.json();
  }

  const { location, ...recipient } = orderInput.recipient;
  const order = await call('POST', '/v1/orders', orderInput);
  const quote = await call('POST', '/v1/quotes', {
    origin: origin.location,
    destination: location,
    package: parcel,
    cashOnDeliveryRequestCents: orderInput.cashOnDeliveryRequestCents,
    order: order.name,
  });
  const shipment = await call('POST', '/v1/shipments', {
    quote: quote.name,
    courier: 'couriers/tres-cordilleras',
    origin: origin.name,
    recipient,
    requiresPickup: true,
  });
  const { labelUrl } = await call('GET', `/v1/${shipment.name}`);
  return { requests, labelUrl };
}

async function byGraph(): Promise<Way & { calls: string[][] }> {
  const recorded = await waybill.ask(RecordOrderDocument, { input: orderInput });
  if (!('order' in recorded.data.createOrder)) throw new Error(JSON.stringify(recorded));
  const shipped = await waybill.ask(ShipToLabelDocument, {
    input: { order: recorded.data.createOrder.order.id, origin: origin.name, package: parcel },
  });
  if (!('shipment' in shipped.data.shipOrder)) throw new Error(JSON.stringify(shipped));
  return {
    requests: ['createOrder', 'shipOrder'],
    labelUrl: shipped.data.shipOrder.shipment.label?.url,
    calls: [
      recorded.calls,
      shipped.calls.slice(0, 1),
      shipped.calls.slice(1, 3).sort(),
      shipped.calls.slice(3),
    ],
  };
}

// One label in four takes half a minute; not those of these shipments, the sandbox's next two.
test('two GraphQL requests replace the four REST calls from a new order to its label', async () => {
  const rest = await byRest();
  const graph = await byGraph();
  expect({ rest: rest.requests.length, graph: graph.requests.length }).toEqual({ rest: 4, graph: 2 });
  expect(rest.requests).toEqual([
    'POST /v1/orders',
    'POST /v1/quotes',
    'POST /v1/shipments',
    'GET /v1/shipments/ca2048',
  ]);
  // The server asks for the merchant once per token. It reads the order and the origins at the same time.
  expect(graph.calls).toEqual([
    ['POST /v1/orders'],
    [organizationCall],
    ['GET /v1/orders/ca2502', 'GET /v1/origins?pageSize=1000'],
    ['POST /v1/quotes', 'POST /v1/shipments'],
  ]);

  // Either URL leads to a label, without an access token.
  for (const { labelUrl } of [rest, graph]) {
    const response = await fetch(String(labelUrl));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    await response.arrayBuffer();
  }
});
