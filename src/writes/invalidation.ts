import type { Loaders } from '../loaders/loaders.ts';
import type { OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';

/**
 * What the loaders of an operation must not answer any more once a write was tried, whether its outcome is known or
 * not, and what they know instead once it has succeeded. Places, origins, channels and templates are not written.
 */

export function invalidateAfterOrderCreation({ orderPage, orderByReference }: Loaders): void {
  orderPage.clearAll();
  orderByReference.clearAll();
}

/** Cancelling an order also asks for the cancellation of its shipment. */
export function invalidateAfterOrderUpdate(loaders: Loaders, order: string): void {
  invalidateAfterOrderCreation(loaders);
  loaders.orderById.clear(order);
  loaders.shipmentById.clearAll();
  loaders.shipmentPage.clearAll();
}

/** A shipment changes the order that its quote is for, and is paid for. */
export function invalidateAfterShipmentCreation(loaders: Loaders): void {
  invalidateAfterOrderCreation(loaders);
  loaders.orderById.clearAll();
  loaders.shipmentPage.clearAll();
  loaders.organization.clearAll();
}

export function invalidateAfterMessage({ messagePage }: Loaders): void {
  messagePage.clearAll();
}

export function replaceOrder({ orderById }: Loaders, order: OrderJson): void {
  orderById.replace(order.name, order);
}

export function replaceQuote({ quoteById }: Loaders, quote: QuoteJson): void {
  quoteById.replace(quote.name, quote);
}

export function replaceShipment({ shipmentById }: Loaders, shipment: ShipmentJson): void {
  shipmentById.replace(shipment.name, shipment);
}
