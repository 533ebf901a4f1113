import { InvalidResponseError } from '../../rest/errors.ts';
import type { OrderQuery, Page } from '../../rest/types.ts';
import type { OrderJson, ShipmentJson } from '../../rest/wire-schema.ts';
import type { PageLoader } from '../paging/page-loader.ts';
import type { HitDepth } from './hit-depth.ts';
import type { ListBatchLoader, ListState } from './list-batch-loader.ts';

export interface PrefetchOptions {
  orderPage: PageLoader<OrderJson, OrderQuery>;
  shipmentById: ListBatchLoader<ShipmentJson>;
  /** What the tenant's operations have shown of the list of shipments. */
  shipments: ListState;
}

/**
 * Pages of orders whose shipments will be asked for. Where the last list of the kind was answered from a page of shipments,
 * such a page is asked for together with the orders. The orders neither wait for it nor fail with it.
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
      // The error is thrown to those who have asked for the orders.
      () => {
        isPending = false;
      },
    );
    if (hitDepth.wasUseful) {
      // After the call for the orders, which is sent at the end of this tick, so that it is first in every queue.
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

/** The filters of a list. What is searched for is left out, as it may be a person's name or number. */
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
