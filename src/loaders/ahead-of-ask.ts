import { InvalidResponseError } from '../rest/errors.ts';
import type { OrderQuery, Page } from '../rest/types.ts';
import type { OrderJson, ShipmentJson } from '../rest/wire-schema.ts';
import { pageSizeAhead } from './ahead-plan.ts';
import type { FollowingHistory, FollowingSeen } from './following-history.ts';
import type { ListedLoader } from './listed-loader.ts';
import type { PageLoader } from './page-loader.ts';

export interface AheadOfAskOptions {
  orderPage: PageLoader<OrderJson, OrderQuery>;
  shipmentById: ListedLoader<ShipmentJson>;
  history: FollowingHistory;
  /** Whether shipments may be asked for before it is known which. */
  isAllowed: boolean;
}

/**
 * Pages of orders whose shipments will be asked for. Where earlier lists of the kind say that the newest shipments are
 * those, a page of them is asked for at the same time. Whatever comes of it, the orders are neither kept waiting nor harmed.
 */
export function ordersWithShipments(options: AheadOfAskOptions): PageLoader<OrderJson, OrderQuery> {
  return new OrdersWithShipments(options);
}

class OrdersWithShipments implements PageLoader<OrderJson, OrderQuery> {
  readonly #options: AheadOfAskOptions;

  constructor(options: AheadOfAskOptions) {
    this.#options = options;
  }

  load(query: OrderQuery, rowsBefore = 0): Promise<Page<OrderJson>> {
    const orders = this.#options.orderPage.load(query, rowsBefore);
    const seen = this.#options.history.of(query);
    const announced = orders.then((page) => this.#announce(page, query, rowsBefore, seen));
    // An error is the business of those who have asked for the orders.
    this.#askAhead(
      query,
      rowsBefore,
      seen,
      announced.catch(() => {}),
    );
    return orders;
  }

  clear(query: OrderQuery): void {
    this.#options.orderPage.clear(query);
  }

  clearAll(): void {
    this.#options.orderPage.clearAll();
  }

  #askAhead(
    { pageSize }: OrderQuery,
    rowsBefore: number,
    seen: FollowingSeen,
    announced: Promise<void>,
  ): void {
    const { shipmentById, isAllowed } = this.#options;
    const { whereabouts } = seen;
    if (!isAllowed || !whereabouts.isKnown) return;
    const shareWithin = (rowsPerId: number) => whereabouts.shareWithin(rowsPerId);
    const following = { idsPerRow: seen.idsPerRow(), rowsBefore, shareWithin };
    const rows = pageSizeAhead(pageSize, following, shipmentById.knownCalls());
    if (rows === undefined) return;
    let isAhead = true;
    announced.then(() => {
      isAhead = false;
    });
    // After the call for the orders, which leaves at the end of this tick, so that it is first in every queue.
    setImmediate(() => {
      if (isAhead) shipmentById.readAhead(rows);
    });
  }

  #announce(page: Page<OrderJson>, { pageSize }: OrderQuery, before: number, seen: FollowingSeen): void {
    const names = shipmentsOf(page);
    seen.sawNames(pageSize, names.size);
    if (names.size === 0) return;
    const rowsBefore = Math.round(before * seen.idsPerRow());
    this.#options.shipmentById.announce({ names, rowsBefore, whereabouts: seen.whereabouts });
  }
}

function shipmentsOf({ rows }: Page<OrderJson>): Set<string> {
  const names = new Set<string>();
  for (const row of rows) {
    if (!(row instanceof InvalidResponseError) && row.shipment) names.add(row.shipment);
  }
  return names;
}
