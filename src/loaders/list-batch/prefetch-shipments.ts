import type { OrderQuery } from '../../rest/api-types.ts';
import { isOfOneOperation } from '../../rest/errors.ts';
import type { OrderJson, ShipmentJson } from '../../rest/wire-schema.ts';
import type { Pages } from '../paging/page-loader.ts';
import type { ListBatchLoader } from './list-batch-loader.ts';
import type { ListState } from './list-state.ts';

/**
 * Wraps a loader of order pages whose shipments will be loaded. If the last page with the same filter had some, the page of
 * shipments is requested in parallel with the orders, which neither wait for it nor fail with it. If the orders fail, the
 * page is not requested, or its call ends.
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
      shipmentById.prefetch(Math.round(query.pageSize * rowsPerId.idsPerRow), position(), pending);
      const page = await pending.catch((error: unknown) => {
        // The orders of the next query may fail too. A read that its own operation has ended says nothing about them.
        if (!isOfOneOperation(error)) rowsPerId.idsPerRow = 0;
        throw error;
      });
      const idCount = page.rows.filter((row) => 'shipment' in row && row.shipment).length;
      rowsPerId.idsPerRow = idCount / query.pageSize;
      if (idCount > 0) shipmentById.expect(position());
      return page;
    },
    takeFurther: (query) => orderPage.takeFurther(query),
    clearAll: () => orderPage.clearAll(),
    maxPageSize: orderPage.maxPageSize,
  };
}
