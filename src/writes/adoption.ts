import { type Loaders, maxPageSize } from '../loaders/loaders.ts';
import { firstRecord } from '../loaders/page-loader.ts';
import { OutcomeUnknownError, StatusError } from '../rest/errors.ts';
import type { CreateOrderJson, OrderJson, ShipmentJson } from '../rest/types.ts';

/**
 * What `find` sees of an earlier attempt that got no answer. What REST has against the look it has not against the
 * input, of which nobody could say then that nothing was done: that stays unknown.
 */
export async function lookedFor<Found>(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!isOfRequest(error)) throw error;
    throw new OutcomeUnknownError('An earlier attempt with this key got no answer', { cause: error });
  }
}

/** Whether REST found fault with what it was asked, rather than with who asked or how often. */
function isOfRequest(error: unknown): boolean {
  return error instanceof StatusError && [400, 404, 409, 410, 412, 422].includes(error.status);
}

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
