import { type Loaders, maxPageSize } from '../loaders/loaders.ts';
import { firstRecord } from '../loaders/page-loader.ts';
import type { CreateOrderJson, OrderJson, ShipmentJson } from '../rest/types.ts';

/**
 * The order that an attempt without an answer has created after all, or null where none can be found. It is known by
 * its reference; a shop may use one for several orders, so that what REST hands back unchanged must be the same too.
 */
export async function findCreatedOrder(
  { orderPage }: Loaders,
  wanted: CreateOrderJson,
): Promise<OrderJson | null> {
  const { referenceId } = wanted;
  if (referenceId === undefined || referenceId === '') return null;
  const query = { search: referenceId, pageSize: maxPageSize.orders };
  return firstRecord(
    orderPage,
    query,
    (order) =>
      order.referenceId === referenceId &&
      order.recipient?.location === wanted.recipient.location &&
      order.sellingPriceCents === wanted.sellingPriceCents &&
      order.cashOnDeliveryRequestCents === wanted.cashOnDeliveryRequestCents,
  );
}

/** The shipment of a quote, or null. Looks at the newest page alone, as it can be no older than its key. */
export async function findCreatedShipment(
  { shipmentPage }: Loaders,
  quote: string,
): Promise<ShipmentJson | null> {
  const { rows } = await shipmentPage.load({ pageSize: maxPageSize.shipments });
  return rows.find((row): row is ShipmentJson => 'quote' in row && row.quote === quote) ?? null;
}
