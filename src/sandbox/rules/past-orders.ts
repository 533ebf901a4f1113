import type { Order } from '../interface/schemas.ts';
import type { Clock } from '../store/clock.ts';

/** Orders that are still read as they were before they were shipped. They are kept in memory alone. */
export interface PastOrders {
  /** Has the order read as it is here, for so many milliseconds from now. */
  keep(merchant: string, order: Order, forMs: number): void;
  /** Has the order of this name read as it is again. */
  drop(merchant: string, name: string): void;
  /** The order as it is read now. */
  read(merchant: string, order: Order): Order;
}

interface PastOrder {
  merchant: string;
  order: Order;
  untilMs: number;
}

/** None to begin with. */
export function createPastOrders(clock: Clock): PastOrders {
  let past: PastOrder[] = [];
  const isCurrent = ({ untilMs }: PastOrder) => untilMs > clock.now().getTime();
  const isOf = (merchant: string, name: string) => (one: PastOrder) =>
    one.merchant === merchant && one.order.name === name;
  return {
    keep(merchant, order, forMs) {
      const untilMs = clock.now().getTime() + forMs;
      past = [...past, { merchant, order, untilMs }].filter(isCurrent);
    },
    drop(merchant, name) {
      const isDropped = isOf(merchant, name);
      past = past.filter((one) => !isDropped(one));
    },
    read(merchant, order) {
      // The earliest that is current: an order may have been shipped twice in the meantime.
      return past.filter(isCurrent).find(isOf(merchant, order.name))?.order ?? order;
    },
  };
}
