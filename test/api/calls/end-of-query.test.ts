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

const board = '{ orders(first: 100) { nodes { id shipment { status } } } }';

test('a page that was asked for ahead, and of which nothing is wanted, ends with the query', async () => {
  let isEmpty = false;
  const held = new Set<ServerResponse>();
  await using waybill = await startApp(async (request, response, body) => {
    const path = request.url ?? '';
    if (path.startsWith('/v1/orders')) {
      const orders = names('orders', 100).map((order, index) => ({
        ...order,
        ...(isEmpty ? {} : { shipment: `shipments/${index}` }),
      }));
      // Only once the page is there as well, which leaves at the same time.
      if (isEmpty) await until(() => held.size === 1);
      return answerJson({ orders })(request, response, body);
    }
    if (isEmpty) {
      held.add(response);
      response.once('close', () => held.delete(response));
      return undefined;
    }
    const shipments = names('shipments', 200).map((shipment) => ({ ...shipment, status: 'DELIVERED' }));
    const [, name] = /^\/v1\/(shipments\/\d+)$/.exec(path) ?? [];
    return answerJson(name === undefined ? { shipments } : { name, status: 'DELIVERED' })(
      request,
      response,
      body,
    );
  });
  const post = () => waybill.app.fetch('http://waybill.test/graphql', ask(board));
  // How long calls take is known better after a few.
  for (let time = 0; time < 5; time += 1) await (await post()).json();
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
