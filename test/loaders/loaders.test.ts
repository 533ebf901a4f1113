import { describe, expect, test } from 'vitest';
import { CancelSource } from '../../src/concurrency/cancellation.ts';
import { readConfig } from '../../src/config/config.ts';
import { createLoaders } from '../../src/loaders/loaders.ts';
import { createLoaderStates } from '../../src/loaders/tenant-state.ts';
import { createCallContexts } from '../fixtures/call-contexts.ts';
import { type Answer, answerJson, startRestClient } from '../fixtures/rest-service.ts';
import { loadAll } from './list-batch/list.ts';

const loading = readConfig({});

/** Answers a target with its JSON, and any other with 404. */
function answerBy(answers: Record<string, unknown>): Answer {
  return (request, response, body) => {
    const json = answers[request.url ?? ''];
    return answerJson(json ?? {}, json === undefined ? 404 : 200)(request, response, body);
  };
}

async function startLoaders(answers: Record<string, unknown>) {
  const rest = await startRestClient(answerBy(answers));
  return Object.assign(createLoaders(rest.api, rest.callContext(), createLoaderStates(loading)), {
    calls: rest.service.lines,
    [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose](),
  });
}

describe('loaders by id', () => {
  test('make one call for each distinct id', async () => {
    await using loaders = await startLoaders({
      '/v1/shipments/1': { name: 'shipments/1', status: 'RETURN' },
    });
    const { shipmentById } = loaders;
    expect(await loadAll(shipmentById, ['shipments/1', 'shipments/2', 'shipments/1'])).toEqual([
      { name: 'shipments/1', status: 'RETURN' },
      null,
      { name: 'shipments/1', status: 'RETURN' },
    ]);
    expect(loaders.calls().sort()).toEqual(['GET /v1/shipments/1', 'GET /v1/shipments/2']);
  });

  test('make no call for a record that a list has returned', async () => {
    await using loaders = await startLoaders({
      '/v1/orders?pageSize=2': { orders: [{ name: 'orders/1' }, { name: 'orders/2' }] },
      '/v1/shipments?pageSize=1': { shipments: [{ name: 'shipments/1', label: 'labels/1' }] },
    });
    await loaders.orderPage.load({ pageSize: 2 });
    await loaders.shipmentPage.load({ pageSize: 1 });
    await loadAll(loaders.orderById, ['orders/1', 'orders/2']);
    await loaders.shipmentById.load('shipments/1');
    expect(loaders.calls()).toEqual(['GET /v1/orders?pageSize=2', 'GET /v1/shipments?pageSize=1']);
  });

  test('read the lists of origins and channels only once', async () => {
    await using loaders = await startLoaders({
      '/v1/origins?pageSize=1000': { origins: [{ name: 'origins/1' }], nextPageToken: 't' },
      '/v1/origins?pageSize=1000&pageToken=t': { origins: [{ name: 'origins/2' }] },
      '/v1/channels?pageSize=100': { channels: [{ name: 'channels/1' }] },
    });
    expect(await loadAll(loaders.originById, ['origins/2', 'origins/3', 'origins/1'])).toEqual([
      { name: 'origins/2' },
      null,
      { name: 'origins/1' },
    ]);
    expect(await loaders.originById.load('origins/4')).toBeNull();
    expect(await loaders.channelById.load('channels/1')).toEqual({ name: 'channels/1' });
    expect(loaders.calls()).toEqual([
      'GET /v1/origins?pageSize=1000',
      'GET /v1/origins?pageSize=1000&pageToken=t',
      'GET /v1/channels?pageSize=100',
    ]);
  });
});

describe('a search that finds several records', () => {
  test('returns only the location whose name matches exactly', async () => {
    await using loaders = await startLoaders({
      '/v1/locations?pageSize=1000&query=locations%2F1': {
        locations: [{ name: 'locations/10' }, { name: 'locations/1' }, { name: 'locations/11' }],
        nextPageToken: 'not needed',
      },
      '/v1/locations?pageSize=1000&query=locations%2F2': { locations: [{ name: 'locations/20' }] },
    });
    expect(await loaders.locationById.load('locations/1')).toEqual({ name: 'locations/1' });
    expect(await loaders.locationById.load('locations/2')).toBeNull();
    expect(loaders.calls()).toHaveLength(2);
  });

  test('returns the first order whose referenceId matches exactly', async () => {
    await using loaders = await startLoaders({
      '/v1/orders?pageSize=100&search=A-7': {
        orders: [{ name: 'orders/1', referenceId: 'A-71' }, { name: 'orders/2' }],
        nextPageToken: 't',
      },
      '/v1/orders?pageSize=1000&pageToken=t&search=A-7': {
        orders: [
          { name: 'orders/3', referenceId: 'A-7' },
          { name: 'orders/4', referenceId: 'A-7' },
        ],
      },
    });
    expect(await loaders.orderByReference.load('A-7')).toEqual({ name: 'orders/3', referenceId: 'A-7' });
    // Found on the way, so that no call is needed for it.
    expect(await loaders.orderById.load('orders/1')).toEqual({ name: 'orders/1', referenceId: 'A-71' });
    expect(loaders.calls()).toHaveLength(2);
  });
});

test('the templates of a channel are read to the last page', async () => {
  await using loaders = await startLoaders({
    '/v1/channels/1/templates?pageSize=100': { templates: [{ name: 'a' }], nextPageToken: 't' },
    '/v1/channels/1/templates?pageSize=100&pageToken=t': { templates: [null, { name: 'b' }] },
  });
  expect(await loadAll(loaders.templatesByChannel, ['channels/1', 'channels/2'])).toEqual([
    [{ name: 'a' }, { name: 'b' }],
    null,
  ]);
});

describe('the first page of shipments for a new token', () => {
  const names = Array.from({ length: 10 }, (_, index) => index);
  const shipments = names.map((index) => ({ name: `shipments/${index}`, label: `labels/${index}` }));

  function answerOf(path: string): unknown {
    if (path === '/v1/orders')
      return { orders: names.map((index) => ({ name: `orders/${index}`, shipment: `shipments/${index}` })) };
    if (path === '/v1/shipments') return { shipments };
    return shipments.find(({ name }) => path === `/v1/${name}`);
  }

  test.each<[string, 'orderPage' | 'orderPageWithShipments']>([
    ['shipments of orders', 'orderPageWithShipments'],
    ['shipments by id', 'orderPage'],
  ])('is smaller if other tokens needed fewer rows: %s', async (_what, page) => {
    await using rest = await startRestClient((request, response, body) =>
      answerJson(answerOf(new URL(request.url ?? '', 'http://service').pathname))(request, response, body),
    );
    const loaderStates = createLoaderStates(loading);
    const callContexts = createCallContexts();

    /** The pages of shipments that an operation asks for. */
    async function pagesOf(token: string): Promise<string[]> {
      const loaders = createLoaders(rest.api, callContexts.of(token, new CancelSource()), loaderStates);
      const before = rest.service.requests.length;
      await loaders[page].load({ pageSize: names.length });
      const wanted = shipments.map(({ name }) => name);
      expect(await loadAll(loaders.shipmentById, wanted)).toEqual(shipments);
      const lines = rest.service.requests.slice(before).map(({ line }) => line);
      return lines.filter((line) => line.includes('/shipments?'));
    }

    const twice = await pagesOf('once');
    expect(twice).toEqual(['GET /v1/shipments?pageSize=20']);
    // One token counts once.
    for (let count = 0; count < 20; count += 1) await pagesOf('once');
    expect(await pagesOf('before')).toEqual(['GET /v1/shipments?pageSize=20']);
    for (let token = 0; token < 40; token += 1) await pagesOf(`meanwhile ${token}`);
    expect(await pagesOf('after')).toEqual(['GET /v1/shipments?pageSize=15']);
  });
});
