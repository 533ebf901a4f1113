import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The paths of the fields on whose behalf calls are made, such as `orders.nodes.0.shipment`; set only where an operation
 * shows what it cost. They hold for all that is awaited on the way, which an argument would have to be passed along for.
 */
export const asking = new AsyncLocalStorage<readonly string[]>();
