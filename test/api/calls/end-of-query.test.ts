import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { answerJson, until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

const ask = (query: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
  body: JSON.stringify({ query }),
});

const names = (kind: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${kind}/${index}` }));

const delivered = { status: 'DELIVERED', label: 'labels/1' };

const board = '{ orders(first: 100) { nodes { id shipment { status } } } }';

test('a query aborts the read of a prefetched page that no field needs', async () => {
  let isEmpty = false;
  const held = new Set<ServerResponse>();
  await using waybill = await startApp(async (request, response, body) => {
    const path = request.url ?? '';
    if (path.startsWith('/v1/orders')) {
      const orders = names('orders', 100).map((order, index) => ({
        ...order,
        ...(isEmpty ? {} : { shipment: `shipments/${index}` }),
      }));
      // The orders come after the request for the page.
      if (isEmpty) await until(() => held.size === 1);
      return answerJson({ orders })(request, response, body);
    }
    if (isEmpty) {
      held.add(response);
      response.once('close', () => held.delete(response));
      return undefined;
    }
    const shipments = names('shipments', 200).map((shipment) => ({ ...shipment, ...delivered }));
    const [, name] = /^\/v1\/(shipments\/\d+)$/.exec(path) ?? [];
    return answerJson(name === undefined ? { shipments } : { name, ...delivered })(request, response, body);
  });
  const post = () => waybill.fetch('/graphql', ask(board));
  await (await post()).json();
  isEmpty = true;
  const { lines } = waybill.service;
  const before = lines().length;
  const answer = await (await post()).json();
  expect(answer.data.orders.nodes).toHaveLength(100);
  expect(lines().slice(before)).toEqual([
    'GET /v1/orders?pageSize=100',
    expect.stringMatching(/shipments.pageSize=\d+$/),
  ]);
  await until(() => held.size === 0);
  expect(waybill.reported).toEqual([]);
});
