import { InvalidResponseError } from '../rest/errors.ts';
import type { OrderJson, OrderQuery, Page, ShipmentJson } from '../rest/types.ts';
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
export function ordersWithShipments({
  orderPage,
  shipmentById,
  history,
  isAllowed,
}: AheadOfAskOptions): PageLoader<OrderJson, OrderQuery> {
  function askAhead({ pageSize }: OrderQuery, rowsBefore: number, seen: FollowingSeen): void {
    const { whereabouts } = seen;
    if (!isAllowed || !whereabouts.isKnown) return;
    const shareWithin = (rowsPerId: number) => whereabouts.shareWithin(rowsPerId);
    const following = { idsPerRow: seen.idsPerRow(), rowsBefore, shareWithin };
    const rows = pageSizeAhead(pageSize, following, shipmentById.knownCalls());
    // After the call for the orders, which leaves at the end of this tick, so that it is first in every queue.
    if (rows !== undefined) setImmediate(() => shipmentById.readAhead(rows));
  }

  function announce(page: Page<OrderJson>, { pageSize }: OrderQuery, before: number, seen: FollowingSeen) {
    const names = shipmentsOf(page);
    seen.sawNames(pageSize, names.size);
    if (names.size === 0) return;
    const rowsBefore = Math.round(before * seen.idsPerRow());
    shipmentById.announce({ names, rowsBefore, whereabouts: seen.whereabouts });
  }

  return {
    clear: (query) => orderPage.clear(query),
    clearAll: () => orderPage.clearAll(),
    load(query, rowsBefore = 0) {
      const orders = orderPage.load(query, rowsBefore);
      const seen = history.of(query);
      askAhead(query, rowsBefore, seen);
      // An error is the business of those who have asked for the orders.
      orders.then((page) => announce(page, query, rowsBefore, seen)).catch(() => {});
      return orders;
    },
  };
}

function shipmentsOf({ rows }: Page<OrderJson>): Set<string> {
  const names = new Set<string>();
  for (const row of rows) {
    if (!(row instanceof InvalidResponseError) && row.shipment) names.add(row.shipment);
  }
  return names;
}
