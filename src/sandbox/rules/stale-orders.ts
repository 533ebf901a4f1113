import type { Order } from '../interface/schemas.ts';
import type { Clock } from '../store/clock.ts';

/** Orders that reads return in the state before they were shipped, to simulate delayed reads. Kept in memory only. */
export interface StaleOrders {
  /** Makes reads return this state of the order for `forMs` milliseconds. */
  keep(merchant: string, order: Order, forMs: number): void;
  /** Makes reads return the current state of the order again. */
  drop(merchant: string, name: string): void;
  /** Returns the state of the order for a read. */
  read(merchant: string, order: Order): Order;
}

interface StaleOrder {
  merchant: string;
  order: Order;
  expiresAtMs: number;
}

/** Creates an empty set of stale orders. */
export function createStaleOrders(clock: Clock): StaleOrders {
  let entries: StaleOrder[] = [];
  const isUnexpired = ({ expiresAtMs }: StaleOrder) => expiresAtMs > clock.now().getTime();
  const isOrder = (merchant: string, name: string) => (entry: StaleOrder) =>
    entry.merchant === merchant && entry.order.name === name;
  return {
    keep(merchant, order, forMs) {
      const expiresAtMs = clock.now().getTime() + forMs;
      entries = [...entries, { merchant, order, expiresAtMs }].filter(isUnexpired);
    },
    drop(merchant, name) {
      const isDropped = isOrder(merchant, name);
      entries = entries.filter((entry) => !isDropped(entry));
    },
    read(merchant, order) {
      // The earliest state that has not expired: an order may be shipped twice within `forMs`.
      return entries.filter(isUnexpired).find(isOrder(merchant, order.name))?.order ?? order;
    },
  };
}
