import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { order } from '../../fixtures/order-to-create.ts';
import { until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

const kept = { REFERENCE_DATA_MS: '60000' };

const origins = '{ origins { nodes { id } } }';
const originCall = 'GET /v1/origins?pageSize=20';
const firstOrigins = {
  origins: { nodes: ['ca1', 'ca2', 'ca3', 'ca4'].map((id) => ({ id: `origins/${id}` })) },
};
const allOrigins = 'GET /v1/origins?pageSize=1000';
const allChannels = 'GET /v1/channels?pageSize=100';
const allTemplates = 'GET /v1/channels/ca1/templates?pageSize=100';
const messages = 'GET /v1/channels/ca1/conversations/ca60/messages?pageSize=20';

describe('cached reference data', () => {
  test.each<[string, string, string[], string[]]>([
    ['a page of origins', origins, [originCall], []],
    ['an origin', '{ origin(id: "ca3") { address { locality } } }', [allOrigins], []],
    [
      'the origin of a shipment',
      '{ shipment(id: "ca0001") { origin { address { locality } } } }',
      ['GET /v1/shipments/ca0001', allOrigins],
      ['GET /v1/shipments/ca0001'],
    ],
    [
      'a location',
      '{ location(id: "huila-pitalito") { locality } }',
      ['GET /v1/locations?pageSize=1000&query=locations/huila-pitalito'],
      [],
    ],
    [
      'a search of the locations',
      '{ locations(search: "Pasto", first: 3) { nodes { id } } }',
      ['GET /v1/locations?pageSize=3&query=Pasto'],
      [],
    ],
    ['a page of channels', '{ channels(first: 5) { nodes { id } } }', ['GET /v1/channels?pageSize=5'], []],
    [
      'the channel of a conversation',
      '{ node(id: "channels/ca1/conversations/ca60") { ... on Conversation { channel { phoneNumber } } } }',
      [allChannels],
      [],
    ],
    [
      'the templates of a channel',
      '{ channel(id: "ca1") { template(name: "pedido_confirmado") { language } } }',
      [allChannels, allTemplates],
      [],
    ],
  ])('needs no call for %s', async (_what, query, cold, warm) => {
    await using waybill = await startWaybill(kept);
    const first = await waybill.ask(query);
    const second = await waybill.ask(query);
    expect([first.status, first.errors, first.calls]).toEqual([200, undefined, cold]);
    expect(second).toEqual({ ...first, calls: warm });
  });

  test.each([
    ['origin', 'origins', 'GET /v1/origins?pageSize=1000', '{ origin(id: "ca4") { id } }'],
    ['channel', 'channels', 'GET /v1/channels?pageSize=100', '{ channel(id: "ca2") { id } }'],
    [
      'location',
      'locations',
      'GET /v1/locations?pageSize=1000&query=locations/huila-pitalito',
      '{ location(id: "huila-pitalito") { id } }',
    ],
  ])('is read again before a missing %s becomes null', async (_what, list, call, query) => {
    await using waybill = await startWaybill(kept);
    const hide = waybill.sandbox.faults.add({
      kind: 'change',
      path: `/v1/${list}`,
      change: (page) => ({ ...(page as object), [list]: [] }),
    });
    expect(Object.values((await waybill.ask<object, unknown>(query)).data)).toEqual([null]);
    hide();
    const { data, errors, calls } = await waybill.ask<object, unknown>(query);
    expect(Object.values(data)).toEqual([{ id: expect.any(String) }]);
    expect([errors, calls]).toEqual([undefined, [call]]);
    expect((await waybill.ask(query)).calls).toEqual([]);
  });

  test('is read again before missing locations of many orders become null', async () => {
    await using waybill = await startWaybill(kept);
    const query = '{ orders(first: 60) { nodes { recipient { location { locality } } } } }';
    const hide = waybill.sandbox.faults.add({
      kind: 'change',
      path: '/v1/locations',
      change: (page) => ({ ...(page as object), locations: [], nextPageToken: '' }),
    });
    await waybill.ask(query);
    hide();
    const { data, errors } = await waybill.ask<{ orders: { nodes: unknown[] } }, unknown>(query);
    expect(errors).toBeUndefined();
    expect(data.orders.nodes).toHaveLength(60);
    for (const node of data.orders.nodes) {
      expect(node).toEqual({ recipient: { location: { locality: expect.any(String) } } });
    }
  });

  test('needs no call for the templates of sent messages', async () => {
    await using waybill = await startWaybill(kept);
    const query = `{ node(id: "channels/ca1/conversations/ca60") { ... on Conversation {
      messages(first: 10) { nodes { body } }
    } } }`;
    const first = await waybill.ask(query);
    const second = await waybill.ask(query);
    const newest = messages.replace('20', '10');
    expect([first.errors, first.calls]).toEqual([undefined, [newest, allTemplates]]);
    expect(second).toEqual({ ...first, calls: [newest] });
  });

  test('is read again once per operation for the message of a template that is gone', async () => {
    await using waybill = await startWaybill(kept);
    const query = `{ node(id: "channels/ca1/conversations/ca60") { ... on Conversation { messages { nodes { body } } } } }`;
    const first = await waybill.ask(query);
    const second = await waybill.ask(query);
    expect([first.errors, first.calls]).toEqual([undefined, [messages, allTemplates]]);
    expect(second).toEqual({ ...first, calls: [messages, allTemplates] });
  });

  test('counts as cached in the cost of an operation', async () => {
    await using waybill = await startWaybill({ ...kept, SHOW_COST: 'yes' });
    const upstream = async () => {
      const response = await waybill.fetch('/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${waybill.sandbox.tokens.first}`,
        },
        body: JSON.stringify({ query: origins }),
      });
      const { calls, cached, savedByList } = (await response.json()).extensions.upstream;
      return { calls, cached, savedByList };
    };
    expect(await upstream()).toEqual({ calls: 1, cached: 0, savedByList: 0 });
    expect(await upstream()).toEqual({ calls: 0, cached: 1, savedByList: 0 });
  });

  test('is not shared between tokens', async () => {
    await using waybill = await startWaybill(kept);
    const { first, second } = waybill.sandbox.tokens;
    expect(await waybill.ask(origins, {}, first)).toMatchObject({ data: firstOrigins, calls: [originCall] });
    const other = { origins: { nodes: [{ id: 'origins/st1' }, { id: 'origins/st2' }] } };
    expect(await waybill.ask(origins, {}, second)).toMatchObject({ data: other, calls: [originCall] });
    expect(await waybill.ask(origins, {}, first)).toMatchObject({ data: firstOrigins, calls: [] });
    expect(await waybill.ask(origins, {}, second)).toMatchObject({ data: other, calls: [] });
    const locations = '{ locations(first: 1) { nodes { id } } }';
    for (const token of [first, second]) {
      const { calls } = await waybill.ask(locations, {}, token);
      expect(calls).toEqual(['GET /v1/locations?pageSize=1']);
    }
    expect(await waybill.ask(origins, {}, 'made-up')).toMatchObject({
      data: { origins: null },
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      calls: [originCall],
    });
  });

  test('stays cached after a write', async () => {
    await using waybill = await startWaybill(kept);
    await waybill.ask(origins);
    const { calls } = await waybill.ask(
      'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { __typename } }',
      { input: order },
    );
    expect(calls).toEqual(['POST /v1/orders']);
    expect(await waybill.ask(origins)).toMatchObject({ data: firstOrigins, calls: [] });
  });

  test('is read in every operation if REFERENCE_DATA_MS is 0', async () => {
    await using waybill = await startWaybill({ REFERENCE_DATA_MS: '0' });
    for (const _ of [1, 2]) expect((await waybill.ask(origins)).calls).toEqual([originCall]);
  });

  test('is read once for concurrent operations', async () => {
    await using waybill = await startWaybill(kept);
    const asked = ['a', 'b', 'c'].map((alias) => waybill.ask(`{ ${alias}: origins { nodes { id } } }`));
    expect((await Promise.all(asked)).map(({ data }) => data)).toEqual(
      ['a', 'b', 'c'].map((alias) => ({ [alias]: firstOrigins.origins })),
    );
    expect(waybill.sandbox.requests.lines()).toEqual([originCall]);
  });
});

describe('the cache of reference data', () => {
  test('does not keep an error', async () => {
    await using waybill = await startWaybill(kept);
    waybill.sandbox.faults.add({ path: '/v1/origins', times: 1, kind: 'status', status: 503 });
    expect(await waybill.ask(origins)).toMatchObject({
      errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }],
      calls: [originCall],
    });
    expect(await waybill.ask(origins)).toMatchObject({ data: firstOrigins, calls: [originCall] });
    expect(await waybill.ask(origins)).toMatchObject({ data: firstOrigins, calls: [] });
  });

  test('does not keep an invalid record', async () => {
    await using waybill = await startWaybill(kept);
    const change = () => ({ origins: [null], nextPageToken: '' });
    waybill.sandbox.faults.add({ path: '/v1/origins', times: 1, kind: 'change', change });
    expect(await waybill.ask(origins)).toMatchObject({
      data: { origins: { nodes: [null] } },
      errors: [{ path: ['origins', 'nodes', 0], extensions: { code: 'UPSTREAM_INVALID_RESPONSE' } }],
    });
    expect(await waybill.ask(origins)).toMatchObject({ data: firstOrigins, calls: [originCall] });
  });
});

describe('stale reference data', () => {
  const moved = {
    path: '/v1/origins',
    kind: 'change' as const,
    change: () => ({ origins: [{ name: 'origins/new' }], nextPageToken: '' }),
  };
  const newOrigins = { origins: { nodes: [{ id: 'origins/new' }] } };

  test('is served while one call refreshes it', async () => {
    await using waybill = await startWaybill({ REFERENCE_DATA_MS: '1' });
    await waybill.ask(origins);
    waybill.sandbox.faults.add(moved);
    await pause(5);
    expect((await waybill.ask(origins)).data).toEqual(firstOrigins);
    await until(() => waybill.sandbox.requests.entries()[0]?.status === 200);
    expect(waybill.sandbox.requests.lines()).toEqual([originCall]);
    await vi.waitFor(async () => expect((await waybill.ask(origins)).data).toEqual(newOrigins));
  });

  test('is refreshed by one call, which continues after the end of its operation', async () => {
    const held: ServerResponse[] = [];
    await using waybill = await startApp((_request, response) => held.push(response), {
      REFERENCE_DATA_MS: '1',
    });
    const give = (id: string) => held.shift()?.end(JSON.stringify({ origins: [{ name: `origins/${id}` }] }));
    const originsOf = (id: string) => ({ data: { origins: { nodes: [{ id: `origins/${id}` }] } } });
    const cold = waybill.ask(origins);
    await until(() => held.length === 1);
    give('old');
    expect(await cold).toEqual(originsOf('old'));
    for (const _ of [1, 2, 3]) {
      // Later than REFERENCE_DATA_MS.
      await pause(5);
      expect(await waybill.ask(origins)).toEqual(originsOf('old'));
    }
    expect([waybill.calls(), held]).toEqual([[originCall, originCall], [expect.anything()]]);
    give('new');
    await vi.waitFor(async () => expect(await waybill.ask(origins)).toEqual(originsOf('new')));
  });

  test.each([429, 500, 503])('is served while the refresh fails with %i', async (status) => {
    await using waybill = await startWaybill({ REFERENCE_DATA_MS: '1' });
    await waybill.ask(origins);
    waybill.sandbox.faults.add({ path: '/v1/origins', kind: 'status', status });
    for (const _ of [1, 2, 3]) {
      await pause(5);
      expect(await waybill.ask(origins)).toMatchObject({ data: firstOrigins });
    }
  });

  test.each([403, 404, 410])('is no longer served after the refresh fails with %i', async (status) => {
    await using waybill = await startWaybill({ REFERENCE_DATA_MS: '1' });
    await waybill.ask(origins);
    waybill.sandbox.faults.add({ path: '/v1/origins', kind: 'status', status });
    await pause(5);
    expect((await waybill.ask(origins)).data).toEqual(firstOrigins);
    await vi.waitFor(async () => expect((await waybill.ask(origins)).data).toEqual({ origins: null }));
  });

  test('is not served if the grace period is 0', async () => {
    await using waybill = await startWaybill({ REFERENCE_DATA_MS: '1' }, { referenceGraceMs: 0 });
    await waybill.ask(origins);
    waybill.sandbox.faults.add(moved);
    await pause(5);
    expect(await waybill.ask(origins)).toMatchObject({ data: newOrigins, calls: [originCall] });
  });
});

describe('the locations of 100 orders', () => {
  const board = '{ orders(first: 100) { nodes { recipient { location { locality } } } } }';
  const orders = 'GET /v1/orders?pageSize=100';

  test('cost two calls for the first order board and none for the next', async () => {
    await using waybill = await startWaybill(kept);
    const first = await waybill.ask(board);
    expect(first.errors).toBeUndefined();
    expect(first.calls).toEqual([
      orders,
      'GET /v1/locations?pageSize=1000',
      expect.stringMatching(/^GET \/v1\/locations\?pageSize=1000&pageToken=[\w-]+$/),
    ]);
    expect(await waybill.ask(board)).toEqual({ ...first, calls: [orders] });
    const one = await waybill.ask('{ location(id: "locations/narino-pasto") { locality } }');
    expect(one).toMatchObject({ data: { location: { locality: 'Pasto' } }, calls: [] });
  });

  test('are read one by one with UPSTREAM_LISTS_FOR_BATCHES=no', async () => {
    await using searching = await startWaybill({ UPSTREAM_LISTS_FOR_BATCHES: 'no' });
    await using listing = await startWaybill();
    const { data, calls } = await searching.ask(board);
    expect(calls.slice(1)).toHaveLength(62);
    for (const call of calls.slice(1)) expect(call).toContain('pageSize=1000&query=locations/');
    expect((await listing.ask(board)).data).toEqual(data);
  });
});

test('operations waiting for a page share one new read if the first client disconnects', async () => {
  const held: ServerResponse[] = [];
  await using waybill = await startApp((_request, response) => held.push(response), {
    REFERENCE_DATA_MS: '60000',
  });
  const client = new AbortController();
  const gone = waybill.ask('{ origins { nodes { id } } }', 'ana', { signal: client.signal });
  await until(() => held.length === 1);
  const [one, other] = ['a', 'b'].map((alias) =>
    waybill.ask(`{ ${alias}: origins { nodes { id } } }`, 'ana'),
  );
  // The reader leaves, so one of the others reads the page for both.
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  await until(() => held.length === 2);
  held[1]?.end(JSON.stringify({ origins: [{ name: 'origins/1' }] }));
  expect(await one).toMatchObject({ data: { a: { nodes: [{ id: 'origins/1' }] } } });
  expect(await other).toMatchObject({ data: { b: { nodes: [{ id: 'origins/1' }] } } });
  expect(waybill.calls()).toHaveLength(2);
});
