import type { Message, Shipment } from '../interface/schemas.ts';
import { orderStatusOf } from '../seed/orders/fates.ts';
import type { Clock } from '../store/clock.ts';
import type { Store } from '../store/store.ts';
import { nextMessage, nextShipment, stayOfMessage, stayOfShipment } from './progress.ts';

/** When a shipment that came to its status at `since` leaves it, in ms; undefined for never. */
export function shipmentDue(shipment: Shipment, since: Date): number | undefined {
  return dueAfter(since, stayOfShipment(shipment));
}

/** When a message that came to its status at `since` leaves it, in ms; undefined for never. */
export function messageDue(message: Message, since: Date): number | undefined {
  return dueAfter(since, stayOfMessage(message));
}

/** Does everything that has fallen due by the clock, in the order in which it did, each at its own time. */
export function bringUpToDate(store: Store, clock: Clock): void {
  const now = clock.now().getTime();
  const nextDue = () =>
    store.database.all(
      'SELECT merchant, path, key, due FROM records WHERE due <= ? ORDER BY due, sequence LIMIT 1',
      now,
    )[0];
  if (nextDue() === undefined) return;
  store.database.transaction(() => {
    for (let row = nextDue(); row !== undefined; row = nextDue()) {
      const list = { merchant: String(row.merchant), path: String(row.path) };
      const at = new Date(Number(row.due));
      if (list.path === 'shipments') moveShipment(store, list.merchant, String(row.key), at);
      else {
        const message = nextMessage(store.messages.get(list, String(row.key)));
        store.messages.replace(list, message, messageDue(message, at));
      }
    }
  });
}

/** The order of a shipment follows it. */
function moveShipment(store: Store, merchant: string, name: string, at: Date): void {
  const shipments = { merchant, path: 'shipments' };
  const shipment = nextShipment(store.shipments.get(shipments, name), at);
  store.shipments.replace(shipments, shipment, shipmentDue(shipment, at));
  const quote = store.quotes.get({ merchant, path: 'quotes' }, shipment.quote);
  if (quote.order === undefined) return;
  const orders = { merchant, path: 'orders' };
  const order = store.orders.get(orders, quote.order);
  const status = orderStatusOf(shipment.status);
  if (order.shipment !== name || order.status === status || order.status === 'CANCELLED') return;
  store.orders.replace(orders, { ...order, status, updateTime: at.toISOString() });
}

function dueAfter(since: Date, stayMs: number | undefined): number | undefined {
  return stayMs === undefined ? undefined : since.getTime() + stayMs;
}
