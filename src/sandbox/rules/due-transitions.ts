import type { Message, Shipment } from '../interface/schemas.ts';
import { toOrderStatus } from '../seed/orders/status-generator.ts';
import type { Clock } from '../store/clock.ts';
import type { Store } from '../store/store.ts';
import {
  advanceMessage,
  advanceShipment,
  messageStatusDurationMs,
  shipmentStatusDurationMs,
} from './status-transitions.ts';

/** When a shipment leaves the status that it reached at `since`, in ms since the epoch. Undefined if never. */
export function shipmentDueAt(shipment: Shipment, since: Date): number | undefined {
  return dueAt(since, shipmentStatusDurationMs(shipment));
}

/** When a message leaves the status that it reached at `since`, in ms since the epoch. Undefined if never. */
export function messageDueAt(message: Message, since: Date): number | undefined {
  return dueAt(since, messageStatusDurationMs(message));
}

/** How long a label of the seed is still made after the first read of its shipment, in ms. */
const seenLabelMs = 8_000;

/**
 * Lets a person see how a label is made: that of a seeded shipment, which waits for minutes, comes soon after the first
 * read of the shipment by id. Only a seeded label is due later than a new shipment's could be. Other labels keep their
 * time.
 */
export function hastenLabel(store: Store, merchant: string, shipment: Shipment, now: Date): void {
  if (shipment.status !== 'GENERATING_LABEL') return;
  const latestOfNewMs = shipmentDueAt(shipment, now);
  store.database.run(
    "UPDATE records SET due = ? WHERE merchant = ? AND path = 'shipments' AND key = ? AND due > ?",
    ...[now.getTime() + seenLabelMs, merchant, shipment.name, latestOfNewMs ?? null],
  );
}

/** Applies all status changes that are due by the clock, in order of their due times. */
export function applyDueTransitions(store: Store, clock: Clock): void {
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
      if (list.path === 'shipments') advanceShipmentAndOrder(store, list.merchant, String(row.key), at);
      else {
        const message = advanceMessage(store.messages.get(list, String(row.key)));
        store.messages.replace(list, message, messageDueAt(message, at));
      }
    }
  });
}

/** Moves a shipment to its next status and updates the status of its order. */
function advanceShipmentAndOrder(store: Store, merchant: string, name: string, at: Date): void {
  const shipments = { merchant, path: 'shipments' };
  const shipment = advanceShipment(store.shipments.get(shipments, name), at);
  store.shipments.replace(shipments, shipment, shipmentDueAt(shipment, at));
  const quote = store.quotes.get({ merchant, path: 'quotes' }, shipment.quote);
  if (quote.order === undefined) return;
  const orders = { merchant, path: 'orders' };
  const order = store.orders.get(orders, quote.order);
  const status = toOrderStatus(shipment.status);
  if (order.shipment !== name || order.status === status || order.status === 'CANCELLED') return;
  store.orders.replace(orders, { ...order, status, updateTime: at.toISOString() });
}

function dueAt(since: Date, durationMs: number | undefined): number | undefined {
  return durationMs === undefined ? undefined : since.getTime() + durationMs;
}
