/** Requests a page of shipments in parallel with the page of orders that will name these shipments. */

import type { OrderQuery, Page } from '../../rest/api-types.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import type { OrderJson, ShipmentJson } from '../../rest/wire-schema.ts';
import type { PageLoader } from '../paging/page-loader.ts';
import type { HitDepth } from './hit-depth.ts';
import type { ListBatchLoader } from './list-batch-loader.ts';
import type { ListState } from './list-state.ts';

/** The loaders and the list state that prefetching uses. */
export interface PrefetchOptions {
  orderPage: PageLoader<OrderJson, OrderQuery>;
  shipmentById: ListBatchLoader<ShipmentJson>;
  /** The tenant's state for the list of shipments. */
  shipments: ListState;
}

/**
 * Wraps the order page loader for order pages whose shipments will be loaded. If the last batch of the same kind
 * was served by a page of shipments, such a page is requested in parallel. The orders neither wait for that page
 * nor fail with it.
 */
export function ordersWithShipments(options: PrefetchOptions): PageLoader<OrderJson, OrderQuery> {
  return new OrdersWithShipments(options);
}

class OrdersWithShipments implements PageLoader<OrderJson, OrderQuery> {
  readonly #options: PrefetchOptions;

  constructor(options: PrefetchOptions) {
    this.#options = options;
  }

  load(query: OrderQuery, rowsBefore = 0): Promise<Page<OrderJson>> {
    const { orderPage, shipments } = this.#options;
    const orders = orderPage.load(query, rowsBefore);
    const hitDepth = shipments.depths.of(kindOf(query));
    let isPending = true;
    orders.then(
      (page) => {
        isPending = false;
        this.#addShipmentHint(page, query, rowsBefore, hitDepth);
      },
      // The caller of `load` handles the error.
      () => {
        isPending = false;
      },
    );
    if (hitDepth.wasUseful) {
      // The orders call is sent at the end of this tick, so it comes before the shipments call in each queue.
      setImmediate(() => {
        if (isPending) this.#prefetch(query, rowsBefore, hitDepth);
      });
    }
    return orders;
  }

  clear(query: OrderQuery): void {
    this.#options.orderPage.clear(query);
  }

  clearAll(): void {
    this.#options.orderPage.clearAll();
  }

  #prefetch({ pageSize }: OrderQuery, rowsBefore: number, hitDepth: HitDepth): void {
    const { idsPerRow } = hitDepth;
    const expected = { rowsBefore: Math.round(rowsBefore * idsPerRow), hitDepth };
    this.#options.shipmentById.prefetch(Math.round(pageSize * idsPerRow), expected);
  }

  #addShipmentHint(
    page: Page<OrderJson>,
    { pageSize }: OrderQuery,
    ordersBefore: number,
    hitDepth: HitDepth,
  ): void {
    const names = shipmentNamesOf(page);
    hitDepth.idsPerRow = names.size / pageSize;
    if (names.size === 0) return;
    const rowsBefore = Math.round(ordersBefore * hitDepth.idsPerRow);
    this.#options.shipmentById.addHint({ names, rowsBefore, hitDepth });
  }
}

/** The batch kind: the filters of the order list, without the search text, which may be personal data. */
function kindOf({ status = [], search }: OrderQuery): string {
  return `orders ${[...new Set(status)].sort().join()} ${search !== undefined}`;
}

function shipmentNamesOf({ rows }: Page<OrderJson>): Set<string> {
  const names = new Set<string>();
  for (const row of rows) {
    if (!(row instanceof InvalidResponseError) && row.shipment) names.add(row.shipment);
  }
  return names;
}
