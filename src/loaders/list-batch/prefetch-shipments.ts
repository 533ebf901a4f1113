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
  const loadBy =
    (method: 'load' | 'loadFurther') =>
    async (query: OrderQuery, ordersBefore = 0) => {
      // The search text may be personal data.
      const estimate = shipments.rowsPerId(
        `orders ${query.status?.join() ?? ''} ${query.search !== undefined}`,
      );
      const shipmentsOf = (orderCount: number) => Math.round(orderCount * estimate.shipmentsPerOrder);
      // Where the shipments of this page are expected in the list of shipments. Called before and after the page of orders,
      // which changes the estimate.
      const expectedPosition = () => ({ rowsBefore: shipmentsOf(ordersBefore), rowsPerId: estimate });
      const pending = orderPage[method](query, ordersBefore);
      // No shipments are expected, and so no page is requested, while the estimate is 0.
      shipmentById.prefetch(shipmentsOf(query.pageSize), expectedPosition(), pending);
      const page = await pending.catch((error: unknown) => {
        // The orders of the next query may fail too. A read that its own operation has ended says nothing about them.
        if (!isOfOneOperation(error)) estimate.shipmentsPerOrder = 0;
        throw error;
      });
      const shipmentCount = page.rows.filter((row) => 'shipment' in row && row.shipment).length;
      // Per requested order, because a prefetch knows only how many orders it requests.
      estimate.shipmentsPerOrder = shipmentCount / query.pageSize;
      if (shipmentCount > 0) shipmentById.expect(expectedPosition());
      return page;
    };
  return {
    load: loadBy('load'),
    loadFurther: loadBy('loadFurther'),
    clearAll: () => orderPage.clearAll(),
    maxPageSize: orderPage.maxPageSize,
  };
}
