import type { OrderJson, OriginJson, QuoteJson, ShipmentJson } from '../../../src/rest/wire-schema.ts';
import { deepJson, orderJson, shipmentsJson } from '../by-hand/shapes.ts';
import type { WorkloadName } from '../workloads.ts';

// A schema from OpenAPI has the names of REST, so these documents ask for the same values with these names. The
// gateway returns REST's JSON. The functions of the hand-written server give this JSON the shape of all other
// responses.

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

/** The data of the documents above. */
interface Data {
  getOrder: OrderJson;
  listOrders: { orders: LinkedOrder[] };
}

/** The data in the shape of the other servers. */
export function shaped(data: unknown, workload: WorkloadName): unknown {
  if (workload === 'typename') return data;
  // The data of this workload's document.
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
