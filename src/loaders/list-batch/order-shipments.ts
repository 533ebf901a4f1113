import type { OrderQuery, Page } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import type { OrderJson, ShipmentJson } from '../../rest/wire-schema.ts';
import type { PageLoader } from '../paging/page-loader.ts';
import type { ListBatchLoader } from './list-batch-loader.ts';
import type { ListState } from './list-state.ts';

/**
 * Wraps the order page loader for order pages whose shipments will be loaded. If pages served the last batch with the
 * same filter, the page of shipments is requested in parallel with the orders. The orders neither wait for that page nor
 * fail with it.
 * @param shipments The token's state for the list of shipments.
 */
export function ordersWithShipments(
  orderPage: PageLoader<OrderJson, OrderQuery>,
  shipmentById: ListBatchLoader<ShipmentJson>,
  shipments: ListState,
): PageLoader<OrderJson, OrderQuery> {
  return {
    load(query, ordersBefore = 0) {
      const orders = orderPage.load(query, ordersBefore);
      const rowsPerId = shipments.rowsPerId(filterOf(query));
      const { idsPerRow, wasUseful } = rowsPerId;
      let isPending = true;
      void orders
        .then((page) => {
          const idCount = countShipments(page);
          rowsPerId.idsPerRow = idCount / query.pageSize;
          const rowsBefore = Math.round(ordersBefore * rowsPerId.idsPerRow);
          if (idCount > 0) shipmentById.expect({ rowsBefore, rowsPerId });
        })
        // The caller of `load` handles the error.
        .catch(() => {})
        .finally(() => {
          isPending = false;
        });
      if (!wasUseful) return orders;
      // The orders call is sent at the end of this tick, so it comes before the shipments call in each queue.
      setImmediate(() => {
        const position = { rowsBefore: Math.round(ordersBefore * idsPerRow), rowsPerId };
        if (isPending) shipmentById.prefetch(Math.round(query.pageSize * idsPerRow), position);
      });
      return orders;
    },
    clear: (query) => orderPage.clear(query),
    clearAll: () => orderPage.clearAll(),
  };
}

/** The filter of the order list, without the search text, which may be personal data. */
function filterOf({ status = [], search }: OrderQuery): string {
  return `orders ${[...new Set(status)].sort().join()} ${search !== undefined}`;
}

function countShipments({ rows }: Page<OrderJson>): number {
  let count = 0;
  for (const row of rows) if (!(row instanceof InvalidResponseError) && row.shipment) count += 1;
  return count;
}
