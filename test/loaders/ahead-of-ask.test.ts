import { setImmediate as afterEvents } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ordersWithShipments } from '../../src/loaders/ahead-of-ask.ts';
import { createFollowingHistory } from '../../src/loaders/following-history.ts';
import type { ListedLoader } from '../../src/loaders/listed-loader.ts';
import type { OrderQuery, Page } from '../../src/rest/types.ts';
import type { OrderJson, ShipmentJson } from '../../src/rest/wire-schema.ts';

const query: OrderQuery = { pageSize: 20 };

/** Asks for orders that come as `orders` says, after lists whose shipments were the newest. What was asked ahead of them. */
async function askedAhead(orders: Promise<Page<OrderJson>>): Promise<number[]> {
  const history = createFollowingHistory();
  const seen = history.of(query);
  seen.sawNames(20, 20);
  for (let list = 0; list < 3; list += 1) {
    seen.whereabouts.saw({
      asked: 20,
      indices: Array.from({ length: 20 }, (_, index) => index),
      rowsRead: 20,
    });
  }
  const asked: number[] = [];
  const shipmentById: Partial<ListedLoader<ShipmentJson>> = {
    readAhead: (rows) => asked.push(rows),
    announce() {},
    knownCalls: () => ({
      getMs: 20,
      pageMs: 20,
      rowMs: 0.01,
      isGuess: false,
      callsAtOnce: 8,
      maxPageSize: 1_000,
    }),
  };
  const loader = ordersWithShipments({
    orderPage: { load: () => orders, clear() {}, clearAll() {} },
    // Nothing else of it is asked for.
    shipmentById: shipmentById as ListedLoader<ShipmentJson>,
    history,
    isAllowed: true,
  });
  loader.load(query).catch(() => {});
  await afterEvents();
  await afterEvents();
  return asked;
}

test('shipments are asked for ahead of orders that are on their way, and not of orders that are there', async () => {
  expect(await askedAhead(new Promise(() => {}))).toEqual([expect.any(Number)]);
  expect(await askedAhead(Promise.resolve({ rows: [], nextPageToken: undefined }))).toEqual([]);
  expect(await askedAhead(Promise.reject(new Error('it fails')))).toEqual([]);
});
