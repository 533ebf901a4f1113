import type { OrderQuery, Page } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import type { OrderJson, ShipmentJson } from '../../rest/wire-schema.ts';
import type { Pages } from '../paging/page-loader.ts';
import type { ListBatchLoader } from './list-batch-loader.ts';
import type { ListState } from './list-state.ts';

/**
 * Wraps a loader of order pages whose shipments will be loaded. If pages served the last batch with the same filter, the
 * page of shipments is requested in parallel with the orders, which neither wait for it nor fail with it.
 */
export function ordersWithShipments(
  orderPage: Pages<OrderJson, OrderQuery>,
  shipmentById: ListBatchLoader<ShipmentJson>,
  shipments: ListState,
): Pages<OrderJson, OrderQuery> {
  return {
    async load(query, ordersBefore = 0) {
      // The search text may be personal data.
      const rowsPerId = shipments.rowsPerId(
        `orders ${query.status?.join() ?? ''} ${query.search !== undefined}`,
      );
      const position = () => ({ rowsBefore: Math.round(ordersBefore * rowsPerId.idsPerRow), rowsPerId });
      // The orders call is sent at the end of this tick, so it comes before the shipments call in each queue.
      const prefetch = setImmediate(() => {
        const idCount = Math.round(query.pageSize * rowsPerId.idsPerRow);
        if (rowsPerId.wasUseful) shipmentById.prefetch(idCount, position());
      });
      const page = await orderPage.load(query, ordersBefore).finally(() => clearImmediate(prefetch));
      const idCount = countShipments(page);
      rowsPerId.idsPerRow = idCount / query.pageSize;
      if (idCount > 0) shipmentById.expect(position());
      return page;
    },
    clearAll: () => orderPage.clearAll(),
    maxPageSize: orderPage.maxPageSize,
  };
}

function countShipments({ rows }: Page<OrderJson>): number {
  return rows.filter((row) => !(row instanceof InvalidResponseError) && row.shipment).length;
}
