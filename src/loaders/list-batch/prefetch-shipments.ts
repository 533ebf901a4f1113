import type { OrderQuery } from '../../rest/api-types.ts';
import type { OrderJson, ShipmentJson } from '../../rest/wire-schema.ts';
import type { Pages } from '../paging/page-loader.ts';
import type { ListBatchLoader } from './list-batch-loader.ts';
import type { ListState } from './list-state.ts';

/**
 * Wraps a loader of order pages whose shipments will be loaded. If the last page with the same filter had some, the page of
 * shipments is requested in parallel with the orders, which neither wait for it nor fail with it.
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
      const pending = orderPage.load(query, ordersBefore);
      shipmentById.prefetch(Math.round(query.pageSize * rowsPerId.idsPerRow), position());
      const page = await pending;
      const idCount = page.rows.filter((row) => 'shipment' in row && row.shipment).length;
      rowsPerId.idsPerRow = idCount / query.pageSize;
      if (idCount > 0) shipmentById.expect(position());
      return page;
    },
    clearAll: () => orderPage.clearAll(),
    maxPageSize: orderPage.maxPageSize,
  };
}
