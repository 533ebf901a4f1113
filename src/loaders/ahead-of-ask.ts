import { InvalidResponseError } from '../rest/errors.ts';
import type { OrderJson, OrderQuery, Page, ShipmentJson } from '../rest/types.ts';
import { pageSizeAhead } from './batch-plan.ts';
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
export function ordersWithShipments({
  orderPage,
  shipmentById,
  history,
  isAllowed,
}: AheadOfAskOptions): PageLoader<OrderJson, OrderQuery> {
  function askAhead(query: OrderQuery, seen: FollowingSeen): void {
    const following = seen.expected();
    if (!isAllowed || following === undefined) return;
    const rows = pageSizeAhead(query.pageSize, following, shipmentById.knowledge());
    // After the call for the orders, which leaves at the end of this tick, so that it is first in every queue.
    if (rows !== undefined) setImmediate(() => shipmentById.readAhead(rows));
  }

  function announce({ rows }: Page<OrderJson>, query: OrderQuery, seen: FollowingSeen): void {
    const names = shipmentsOf(rows);
    seen.sawNames(query.pageSize, names.size);
    if (names.size > 0) shipmentById.announce({ names, onFound: seen.sawFound });
  }

  return {
    ...orderPage,
    load(query) {
      const orders = orderPage.load(query);
      if (query.pageToken === undefined) {
        const seen = history.of(query);
        askAhead(query, seen);
        // An error is the business of those who have asked for the orders.
        orders.then((page) => announce(page, query, seen)).catch(() => {});
      }
      return orders;
    },
  };
}

function shipmentsOf(rows: Page<OrderJson>['rows']): Set<string> {
  return new Set(
    rows.flatMap((row) => (row instanceof InvalidResponseError || !row.shipment ? [] : [row.shipment])),
  );
}
