import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { type Answer, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const request = (query: string, signal: AbortSignal): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
  body: JSON.stringify({ query }),
  signal,
});

const threeCalls = '{ organization { id } order(id: "a") { id } channels { nodes { id } } }';

/** Takes requests, never answers them, and counts those whose connection the other side has ended. */
function hanging() {
  const open = new Set<ServerResponse>();
  const answer: Answer = (_request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
  };
  return { open, answer };
}

test('an aborted request aborts the REST calls of its query', async () => {
  const { open, answer } = hanging();
  await using waybill = await startApp(answer);
  const client = new AbortController();
  const gone = waybill.fetch('/graphql', request(threeCalls, client.signal));
  await until(() => open.size === 3);
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  await until(() => open.size === 0);
  expect(waybill.reported).toEqual([]);
});

test('a closed connection aborts the REST calls of its query', async () => {
  const { open, answer } = hanging();
  await using waybill = await startApp(answer);
  const client = new AbortController();
  const gone = fetch(new URL('/graphql', waybill.url), request(threeCalls, client.signal));
  await until(() => open.size === 3);
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  await until(() => open.size === 0);
  expect(waybill.reported).toEqual([]);
});

test('queued REST calls are not sent after their client disconnects', async () => {
  const { open, answer } = hanging();
  await using waybill = await startApp(answer, { UPSTREAM_CONNECTIONS: '1' });
  const client = new AbortController();
  const gone = waybill.fetch('/graphql', request(threeCalls, client.signal));
  await until(() => open.size === 1);
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  await until(() => open.size === 0);
  // Time for what should not happen.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(waybill.service.requests).toHaveLength(1);
});

test('a query makes no further REST calls after its client disconnects', async () => {
  const held: ServerResponse[] = [];
  const respond = () => held[0]?.end(JSON.stringify({ name: 'orders/a', shipment: 'shipments/a' }));
  // REST responds when the server sees the disconnect.
  const intercept =
    (app: RequestListener): RequestListener =>
    (request, response) => {
      response.once('close', respond);
      app(request, response);
    };
  await using waybill = await startApp((_request, response) => held.push(response), {}, { intercept });
  const client = new AbortController();
  const query = '{ order(id: "a") { shipment { status } } }';
  const gone = waybill.fetch('/graphql', request(query, client.signal));
  await until(() => held.length === 1);
  const [order] = held;
  if (order === undefined) throw new Error('there is no request');
  const closed = once(order, 'close');
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  await closed;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(waybill.service.lines()).toEqual(['GET /v1/orders/a']);
});

test('a client that disconnects does not affect concurrent queries', async () => {
  const held: { url: string | undefined; response: ServerResponse }[] = [];
  await using waybill = await startApp(({ url }, response) => held.push({ url, response }));
  const [one, other] = [new AbortController(), new AbortController()];
  const gone = waybill.fetch('/graphql', request('{ organization { id } }', one.signal));
  await until(() => held.length === 1);
  const query = '{ organization { id } channels { nodes { id } } }';
  const answered = waybill.fetch('/graphql', request(query, other.signal));
  await until(() => held.length === 3);
  one.abort();
  await expect(gone).rejects.toThrow('aborted');
  for (const { url, response } of held)
    response.end(
      JSON.stringify(url === '/v1/organizations/mine' ? { name: 'organization/a' } : { channels: [] }),
    );
  expect(await (await answered).json()).toEqual({
    data: { organization: { id: 'organization/a' }, channels: { nodes: [] } },
  });
  expect(waybill.service.lines().sort()).toEqual([
    'GET /v1/channels?pageSize=20',
    'GET /v1/organizations/mine',
    'GET /v1/organizations/mine',
  ]);
});
