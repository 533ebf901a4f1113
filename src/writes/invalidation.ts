import type { Loaders } from '../loaders/loaders.ts';

// What the loaders forget after a write, whether the write succeeded or not. They also note the written record: lists may still
// show its old state, so it is read by id. No mutation changes places, origins, channels or templates.

/** Clears the searches that a new order may match. */
export function invalidateAfterOrderCreation({ orderPage, orderByReference }: Loaders): void {
  orderPage.clearAll();
  orderByReference.clearAll();
}

/** Clears an updated order, and all shipments: cancelling an order also requests the cancellation of its shipment. */
export function invalidateAfterOrderUpdate(loaders: Loaders, order: string): void {
  invalidateAfterOrderCreation(loaders);
  loaders.orderById.clear(order);
  loaders.orderById.noteWritten(order);
  loaders.shipmentById.clearAll();
  loaders.shipmentPage.clearAll();
}

/** Clears all orders and the organization: a shipment changes the order of its quote, and the account's balance. */
export function invalidateAfterShipmentCreation(loaders: Loaders): void {
  invalidateAfterOrderCreation(loaders);
  loaders.orderById.clearAll();
  loaders.shipmentPage.clearAll();
  loaders.organization.clearAll();
}

/** Notes the order of a quote that a shipment has accepted. A quote that was not read was not accepted either. */
export async function noteOrderOfQuote({ quoteById, orderById }: Loaders, name: string): Promise<void> {
  const order = (await quoteById.peek(name))?.order;
  if (order) orderById.noteWritten(order);
}
