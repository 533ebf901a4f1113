import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { until } from '../../fixtures/rest-service.ts';
import { startApp } from '../../fixtures/start-app.ts';

interface Request {
  query: string;
  bearer?: string;
  signal?: AbortSignal;
}

/** The application before a service that holds its answers until they are given. */
async function startHolding() {
  const held: ServerResponse[] = [];
  const waybill = await startApp((_request, response) => held.push(response), { REFERENCE_DATA_MS: '0' });
  const ask = async ({ query, bearer = 'ana', signal }: Request) => {
    const response = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ query }),
      signal: signal ?? null,
    });
    return response.json();
  };
  return {
    ...waybill,
    held,
    ask,
    /** Waits for the next call, and takes it. */
    async next(): Promise<ServerResponse> {
      await until(() => held.length > 0);
      // `until` has found one.
      return held.shift() as ServerResponse;
    },
  };
}

const notes = '{ order(id: "1") { notes } }';
const update = 'mutation { updateOrder(input: { id: "1", notes: "after" }) { __typename } }';
const order = (value: string) => JSON.stringify({ name: 'orders/1', notes: value });

test('concurrent equal queries with one token read the record once per query', async () => {
  await using waybill = await startHolding();
  const answers = [1, 2, 3].map(() => waybill.ask({ query: notes }));
  await until(() => waybill.held.length === 3);
  for (const [index, response] of waybill.held.entries()) response.end(order(`${index}`));
  const seen = (await Promise.all(answers)).map(({ data }) => data.order.notes);
  expect(seen.sort()).toEqual(['0', '1', '2']);
  expect(waybill.calls()).toEqual(Array(3).fill('GET /v1/orders/1'));
});

test('a query after a mutation shows the change while an equal earlier query runs', async () => {
  await using waybill = await startHolding();
  const before = waybill.ask({ query: notes });
  const older = await waybill.next();
  const written = waybill.ask({ query: update });
  (await waybill.next()).end(order('after'));
  expect(await written).toMatchObject({ data: { updateOrder: { __typename: 'UpdateOrderSuccess' } } });
  const after = waybill.ask({ query: notes });
  (await waybill.next()).end(order('after'));
  expect(await after).toEqual({ data: { order: { notes: 'after' } } });
  older.end(order('before'));
  expect(await before).toEqual({ data: { order: { notes: 'before' } } });
  expect(waybill.calls()).toEqual(['GET /v1/orders/1', 'PATCH /v1/orders/1', 'GET /v1/orders/1']);
});

test('a query after a mutation with another token shows the change too', async () => {
  await using waybill = await startHolding();
  const before = waybill.ask({ query: notes });
  const older = await waybill.next();
  const written = waybill.ask({ query: update, bearer: 'eva' });
  (await waybill.next()).end(order('after'));
  await written;
  const after = waybill.ask({ query: notes });
  (await waybill.next()).end(order('after'));
  expect(await after).toEqual({ data: { order: { notes: 'after' } } });
  older.end(order('before'));
  await before;
});

test('a disconnecting client ends its own query, but not an equal query', async () => {
  await using waybill = await startHolding();
  const client = new AbortController();
  const gone = waybill.ask({ query: notes, signal: client.signal });
  const first = await waybill.next();
  const stayed = waybill.ask({ query: notes });
  const second = await waybill.next();
  const closed = new Promise((resolve) => first.once('close', resolve));
  client.abort();
  await expect(gone).rejects.toThrow('aborted');
  await closed;
  second.end(order('here'));
  expect(await stayed).toEqual({ data: { order: { notes: 'here' } } });
  expect(waybill.reported).toEqual([]);
});

test('concurrent equal mutations each send their own PATCH', async () => {
  await using waybill = await startHolding();
  const answers = [1, 2].map(() => waybill.ask({ query: update }));
  await until(() => waybill.held.length === 2);
  for (const response of waybill.held) response.end(order('after'));
  await Promise.all(answers);
  expect(waybill.calls()).toEqual(Array(2).fill('PATCH /v1/orders/1'));
});
