import { setImmediate as afterEvents } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ListBatchLoader } from '../../../src/loaders/list-batch/list-batch-loader.ts';
import { ListState } from '../../../src/loaders/list-batch/list-state.ts';
import { ordersWithShipments } from '../../../src/loaders/list-batch/prefetch.ts';
import type { OrderQuery, Page } from '../../../src/rest/api-types.ts';
import type { OrderJson, ShipmentJson } from '../../../src/rest/wire-schema.ts';

/** Lists of orders of which each row has named a shipment, the newest ones, and how many shipments are asked for ahead. */
function start() {
  const shipments = new ListState();
  const prefetched: number[] = [];
  const shipmentById: Partial<ListBatchLoader<ShipmentJson>> = {
    prefetch: (count) => void prefetched.push(count),
    addHint: ({ names, hitDepth }) =>
      hitDepth.learn({
        idCount: names.size,
        hits: [...names].map((_, index) => index),
        rowsRead: names.size,
        rowsBefore: 0,
        isWholeList: false,
      }),
  };
  return async (orders: Promise<Page<OrderJson>>, query: OrderQuery = { pageSize: 20 }) => {
    const loader = ordersWithShipments({
      orderPage: { load: () => orders, clear() {}, clearAll() {} },
      // Nothing else of it is asked for.
      shipmentById: shipmentById as ListBatchLoader<ShipmentJson>,
      shipments,
    });
    loader.load(query).catch(() => {});
    await afterEvents();
    await afterEvents();
    return prefetched.splice(0);
  };
}

// All that is read of an order.
const rows = Array.from({ length: 20 }, (_, index) => ({ shipment: `shipments/${index}` }) as OrderJson);
const page = Promise.resolve({ rows, nextPageToken: undefined });
const pending = new Promise<never>(() => {});

test('shipments are prefetched with orders that are on their way, and not with orders that are there', async () => {
  const load = start();
  expect(await load(pending)).toEqual([]);
  await load(page);
  expect(await load(pending)).toEqual([20]);
  expect(await load(page)).toEqual([]);
  expect(await load(Promise.reject(new Error('it fails')))).toEqual([]);
});

test('what is known of a list holds for its filters, whatever their order, its page or the text of its search', async () => {
  const load = start();
  await load(page, { pageSize: 20, status: ['READY', 'NEW'], search: 'Pedro' });
  const query: OrderQuery = {
    pageSize: 40,
    status: ['NEW', 'READY', 'NEW'],
    search: 'Lucía',
    pageToken: 't',
  };
  expect(await load(pending, query)).toEqual([40]);
  for (const other of [{}, { status: ['READY'] }, { status: ['READY', 'NEW'] }, { search: 'Lucía' }]) {
    expect(await load(pending, { pageSize: 20, ...other } as OrderQuery)).toEqual([]);
  }
});
