import { afterEach, describe, expect, test } from 'vitest';
import { type LiveClient, type LiveRequest, multipart, sse, watchLive } from '../../fixtures/live-client.ts';
import { openRaw } from '../../fixtures/raw-http.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const open: AsyncDisposable[] = [];
const clients: LiveClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const disposable of open.splice(0)) await disposable[Symbol.asyncDispose]();
});

async function start(environment: Record<string, string> = {}): Promise<Waybill> {
  const waybill = await startWaybill({ LIVE_INTERVAL_MS: '30', ...environment });
  open.push(waybill);
  return waybill;
}

async function watch(waybill: Waybill, request: LiveRequest): Promise<LiveClient> {
  const client = await watchLive(waybill.url, request);
  clients.push(client);
  return client;
}

/** Its label is made 8 seconds after the first read, by the clock of the sandbox. */
const label = 'subscription Label { shipment(id: "ca2047") { status label { id url } } }';
const waiting = { data: { shipment: { status: 'GENERATING_LABEL', label: null } } };
const made = {
  data: {
    shipment: {
      status: 'LABEL_GENERATED',
      label: { id: 'labels/ca2047', url: expect.stringMatching(/^http/) },
    },
  },
};

describe.each([
  ['SSE', sse, 'text/event-stream; charset=utf-8', 'complete'],
  ['multipart', multipart, 'multipart/mixed; boundary="graphql"; subscriptionSpec=1.0', 'complete'],
])('a stream by %s', (_name, accept, contentType) => {
  test('sends the first response, and then an event for each change', async () => {
    const waybill = await start();
    const client = await watch(waybill, { query: label, accept });
    expect(await client.event(1)).toEqual(waiting);
    waybill.sandbox.clock.advance(8_000);
    expect(await client.event(2)).toEqual(made);
    expect(client.end()).toBeUndefined();
  });

  test('has headers that keep proxies from buffering or storing the stream', async () => {
    const waybill = await start();
    const { status, headers } = await watch(waybill, {
      query: label,
      accept,
      headers: { 'accept-encoding': 'br, gzip' },
    });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe(contentType);
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-encoding')).toBeNull();
    expect(headers.get('x-request-id')).toMatch(/./);
  });

  test('sends its headers before REST has responded', async () => {
    const waybill = await start();
    const end = waybill.sandbox.faults.add({ kind: 'hang', path: '/v1/shipments/ca2047' });
    const client = await watch(waybill, { query: label, accept });
    expect([client.status, client.events]).toEqual([200, []]);
    end();
  });

  test('runs a new document, and then the same document from the cache', async () => {
    const waybill = await start();
    const query = `${label} # ${accept}`;
    for (let count = 0; count < 2; count += 1) {
      const client = await watch(waybill, { query, accept });
      expect(await client.event(1)).toEqual(waiting);
    }
  });

  test('reads variables and the name of the operation', async () => {
    const waybill = await start();
    const query =
      'query Other { organization { id } } subscription One($id: ID!) { order(id: $id) { id status } }';
    const client = await watch(waybill, {
      query,
      operationName: 'One',
      variables: { id: 'ca2496' },
      accept,
    });
    expect(await client.event(1)).toEqual({ data: { order: { id: 'orders/ca2496', status: 'NEW' } } });
  });
});

test.each([
  ['order', '(id: "ca2496") { status }'],
  ['orders', '(first: 1) { nodes { id } }'],
  ['shipment', '(id: "ca2047") { status }'],
  ['shipments', '(first: 1) { nodes { id } }'],
  ['nodes', '(ids: ["orders/ca2496", "shipments/ca2047"]) { id }'],
  ['conversation', '(id: "channels/ca1/conversations/ca60") { id channel { type } }'],
  ['organization', '{ id balance { cents } }'],
])('the subscription %s returns the data of the query with the same calls', async (field, rest) => {
  const waybill = await start({ LIVE_INTERVAL_MS: '60000' });
  const { data, calls } = await waybill.ask(`{ ${field}${rest} }`);
  waybill.sandbox.requests.clear();
  const client = await watch(waybill, { query: `subscription { ${field}${rest} }` });
  expect(await client.event(1)).toEqual({ data });
  expect(waybill.sandbox.requests.lines()).toEqual(calls);
});

test('a stream sends no event if only the signature in a label URL changes', async () => {
  const waybill = await start();
  const client = await watch(waybill, {
    query: 'subscription { shipment(id: "ca2036") { status label { url } } }',
  });
  await client.event(1);
  const end = waybill.changeAnswer('/v1/shipments/ca2036', {
    labelUrl: 'https://rest.test/another-signature',
  });
  const readsBefore = waybill.sandbox.requests.lines().length;
  // Two looks have ended that saw another URL.
  await expect
    .poll(() => waybill.sandbox.requests.lines().length, { timeout: 90_000 })
    .toBeGreaterThan(readsBefore + 2);
  expect(client.events).toHaveLength(1);
  end();
  waybill.changeAnswer('/v1/shipments/ca2036', {
    labelUrl: 'https://rest.test/another-signature',
    status: 'DELIVERED',
  });
  expect(await client.event(2)).toEqual({
    data: { shipment: { status: 'DELIVERED', label: { url: 'https://rest.test/another-signature' } } },
  });
});

test('a stream sends no event if only the page tokens of REST change', async () => {
  const waybill = await start();
  let reads = 0;
  waybill.sandbox.faults.add({
    kind: 'change',
    path: '/v1/orders',
    change(answer) {
      reads += 1;
      return { ...Object(answer), nextPageToken: `token-${reads}` };
    },
  });
  const client = await watch(waybill, {
    query:
      'subscription { orders(first: 1) { edges { cursor node { notes } } pageInfo { startCursor endCursor } } }',
  });
  await client.event(1);
  // Two looks have ended that saw other tokens.
  await expect.poll(() => reads, { timeout: 90_000 }).toBeGreaterThan(3);
  expect(client.events).toHaveLength(1);
  await waybill.ask(
    'mutation { updateOrder(input: { id: "orders/ca2500", notes: "changed" }) { __typename } }',
  );
  expect(await client.event(2)).toMatchObject({
    data: { orders: { edges: [{ node: { notes: 'changed' } }] } },
  });
  const [first, second] = client.events.map(
    (event) => (event as { data: { orders: { pageInfo: { endCursor: string } } } }).data.orders.pageInfo,
  );
  expect(second?.endCursor).not.toBe(first?.endCursor);
});

test('a stream sends an event after a mutation with the same token', async () => {
  const waybill = await start({ LIVE_INTERVAL_MS: '50' });
  const client = await watch(waybill, { query: 'subscription { order(id: "ca2496") { notes } }' });
  await client.event(1);
  await waybill.ask(
    'mutation { updateOrder(input: { id: "orders/ca2496", notes: "changed" }) { __typename } }',
  );
  expect(await client.event(2)).toEqual({ data: { order: { notes: 'changed' } } });
});

test('a stream continues with null if a record is gone', async () => {
  const waybill = await start();
  const client = await watch(waybill, { query: 'subscription { order(id: "ca2496") { id } }' });
  await client.event(1);
  waybill.sandbox.faults.add({ kind: 'status', path: '/v1/orders/ca2496', status: 404, body: {} });
  expect(await client.event(2)).toEqual({ data: { order: null } });
  expect(client.end()).toBeUndefined();
});

test('a client that accepts only streams gets the result of a query as one event', async () => {
  const waybill = await start();
  for (let count = 0; count < 2; count += 1) {
    const client = await watch(waybill, { query: '{ order(id: "ca2496") { id } }' });
    expect(await client.ended()).toBe('complete');
    expect(client.events).toEqual([{ data: { order: { id: 'orders/ca2496' } } }]);
  }
});

test.each([
  ['urql', 'application/graphql-response+json, application/json, text/event-stream, multipart/mixed'],
  ['a client that accepts anything', '*/*'],
])('a query of %s gets a JSON response', async (_client, accept) => {
  const waybill = await start();
  const headers = { accept, 'content-type': 'application/json' };
  for (let count = 0; count < 2; count += 1) {
    const body = JSON.stringify({ query: '{ order(id: "ca2496") { id } }' });
    expect(await waybill.post(body, headers)).toEqual({
      status: 200,
      body: { data: { order: { id: 'orders/ca2496' } } },
    });
  }
});

test('each part of a multipart stream is sent with the boundary after the part', async () => {
  const waybill = await start();
  const client = await watch(waybill, { query: label, accept: multipart });
  await client.event(1);
  expect(client.text()).toMatch(
    /^\r\n--graphql\r\ncontent-type: application\/json\r\n\r\n\{\}\r\n--graphql\r\ncontent-type: application\/json\r\n\r\n\{"payload":.*\}\r\n--graphql$/,
  );
});

test('a connection can be used again after a refused stream', async () => {
  const waybill = await start();
  const { socket, received } = await openRaw(waybill);
  const body = JSON.stringify({ query: 'subscription { nope }' });
  const request = [
    'POST /graphql HTTP/1.1',
    'host: waybill.test',
    'accept: text/event-stream',
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
  socket.write(request);
  await expect.poll(received).toContain('event: complete');
  socket.write(request);
  await expect.poll(() => received().split('event: complete').length, { timeout: 90_000 }).toBe(3);
  socket.destroy();
});
