import type { CreateShipmentJson } from '../rest/api-types.ts';
import { isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type { ShipmentJson } from '../rest/wire-schema.ts';
import { earliestCreation } from './created-record-search.ts';
import { alreadyShipped, type ShippingLock } from './earlier-shipment-search.ts';
import { NotFoundError } from './errors.ts';
import type { Held } from './idempotency.ts';
import { postShipment, type Shipping } from './shipping-posts.ts';

/**
 * Runs `createShipment`: accepts a quote at most once, with any idempotency key or none. The lock of the quote's order,
 * or of a quote without an order, has the note of the last POST. The states are in ship-order-workflow.ts.
 * @throws ConflictError if an earlier request has created a shipment. NotFoundError if REST shows no such quote: the
 * order to lock is then unknown.
 */
export async function acceptQuote(
  shipping: Shipping,
  shipment: CreateShipmentJson,
  attempt: Held,
): Promise<ShipmentJson> {
  const { api, callContext, loaders, idempotency } = shipping;
  const writeContext = callContext.untilDeadline();
  idempotency.expectOpen();
  const quote = await loaders.quoteById.load(shipment.quote);
  if (quote === null) throw new NotFoundError(shipment.quote, 'quote');
  const order = isResourceName('orders', quote.order) ? quote.order : undefined;
  const resource = order ?? shipment.quote;
  return idempotency.withLock(resource, attempt, writeContext, async (lock: ShippingLock) => {
    const earlier =
      order === undefined
        ? await earlierShipmentOfQuote(shipping, lock)
        : await earlierShipmentOfOrder(shipping, order, lock);
    if (earlier !== undefined) throw alreadyShipped(resource, earlier, { isNamed: true });
    return postShipment(shipping, { shipment, order, earliestMs: earliestCreation(api), lock });
  });
}

/** The name of the shipment of a quote without an order. Without a note, no request has accepted the quote. */
async function earlierShipmentOfQuote({ lookup }: Shipping, lock: ShippingLock): Promise<string | undefined> {
  if (lock.note === undefined) return undefined;
  return (await lookup.findByQuote(lock))?.name;
}

/** The name of an order's shipment, even if REST would ship the order again. */
async function earlierShipmentOfOrder(
  { loaders, lookup }: Shipping,
  name: ResourceName<'orders'>,
  lock: ShippingLock,
): Promise<string | undefined> {
  // While this request waited for the lock, the order may have changed.
  loaders.orderById.clear(name);
  // The note of the lock is that of an earlier POST. Without one there is nothing to search for, so the order itself is enough.
  const found =
    lock.note === undefined
      ? { order: await loaders.orderById.loadById(name), shipment: null }
      : await lookup.find(name, undefined, lock);
  const shipment = found.shipment?.name ?? found.order?.shipment;
  return isResourceName('shipments', shipment) ? shipment : undefined;
}
