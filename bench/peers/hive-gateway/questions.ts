import type { OrderJson, OriginJson, QuoteJson, ShipmentJson } from '../../../src/rest/wire-schema.ts';
import { deepJson, orderJson, shipmentsJson } from '../by-hand/shapes.ts';
import type { WorkloadName } from '../workloads.ts';

// A schema made from OpenAPI has REST's names, so that the gateway is asked for the same values in its own words. It gives
// REST's JSON, of which the same functions as the hand-written server's make what all others answer.

export const documents: Partial<Record<WorkloadName, string>> = {
  order: `query Order($id: queryInput_getOrder_id!) { getOrder(id: $id) {
    name status createTime updateTime contentDescription notes referenceId fulfiller customerReliability
    sellingPriceCents cashOnDeliveryRequestCents paymentMethods
    recipient { firstName lastName phoneNumber address { locality addressLines } }
  } }`,
  shipments: `query Shipments { listOrders(pageSize: 100) { orders {
    name status createTime contentDescription sellingPriceCents
    recipient { firstName lastName address { locality } }
    shipmentRecord { name status courier totalCostCents label labelUrl }
  } } }`,
  deep: `query Deep { listOrders(pageSize: 50) { orders {
    name status
    shipmentRecord {
      name status label labelUrl
      originRecord { name address { locality addressLines } }
      quoteRecord { name offers { courier status shipmentCostCents estimatedDeliveryOperatingDays } }
    }
  } } }`,
};

interface LinkedShipment extends ShipmentJson {
  originRecord: OriginJson;
  quoteRecord: QuoteJson;
}

interface LinkedOrder extends OrderJson {
  shipmentRecord: LinkedShipment;
}

/** What the gateway answers to the documents above. */
interface Data {
  getOrder: OrderJson;
  listOrders: { orders: LinkedOrder[] };
}

/** The data as the other servers give it. */
export function shaped(data: unknown, workload: WorkloadName): unknown {
  if (workload === 'typename') return data;
  // The answer to the document of this workload.
  const { getOrder, listOrders } = data as Data;
  if (workload === 'order') return orderJson(getOrder);
  const { orders } = listOrders;
  const linked = orders.map(({ shipmentRecord }) => ({
    ...shipmentRecord,
    origin: shipmentRecord.originRecord?.name,
    quote: shipmentRecord.quoteRecord?.name,
  }));
  const shipments = new Map(linked.map((shipment) => [shipment.name, shipment]));
  const named = orders.map((order) => ({ ...order, shipment: order.shipmentRecord.name }));
  if (workload === 'shipments') return shipmentsJson(named, shipments);
  return deepJson(
    named,
    shipments,
    new Map(linked.map(({ quoteRecord }) => [quoteRecord.name, quoteRecord])),
    new Map(linked.map(({ originRecord }) => [originRecord.name, originRecord])),
  );
}
