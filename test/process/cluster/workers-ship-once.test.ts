import pLimit from 'p-limit';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { orderInput, parcel } from '../../fixtures/order-to-ship.ts';
import { onceEach, shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { rounds } from '../../fixtures/rounds.ts';
import { startWorkers } from '../../fixtures/workers-process.ts';

const atOnce = 8;

const createOrder =
  'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { ... on CreateOrderSuccess { order { id } } } }';
const shipOrder = 'mutation ($input: ShipOrderInput!) { shipOrder(input: $input) { __typename } }';

describe.each([
  ['immediately', 0],
  ['after five seconds', 5_000],
])('two workers (orders show a new shipment %s)', (_when, shipmentNamedAfterMs) => {
  test('ship an order once for two concurrent requests', { timeout: 120_000 }, async () => {
    const begin = new Date();
    const sandbox = await startSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs } });
    const server = startWorkers({ UPSTREAM_URL: sandbox.url });
    const { graphql } = await server.listening();
    await server.workers();

    /** Each call uses another connection, so the workers alternate. */
    async function ask<Data>(query: string, input: object): Promise<Data> {
      const response = await fetch(graphql, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${sandbox.tokens.first}`,
          connection: 'close',
        },
        body: JSON.stringify({ query, variables: { input } }),
      });
      const { data, errors } = await response.json();
      expect(errors).toBeUndefined();
      return data;
    }
    const ship = async (order: string, idempotencyKey: string | null) => {
      const input = { order, origin: 'origins/ca4', package: parcel, idempotencyKey };
      return (await ask<{ shipOrder: { __typename: string } }>(shipOrder, input)).shipOrder.__typename;
    };

    const orderIds: string[] = [];
    const outcomes = await pLimit(atOnce).map(Array.from({ length: rounds }), async (_, round) => {
      const created = await ask<{ createOrder: { order: { id: string } } }>(createOrder, orderInput);
      const { id } = created.createOrder.order;
      orderIds.push(id);
      const [how, keys] = keysOf(round);
      const both = await Promise.all(keys.map((key) => ship(id, key)));
      return `${how}: ${both.sort().join(', ')}`;
    });
    expect([...new Set(outcomes)].sort()).toEqual([
      'no keys: Conflict, ShipOrderSuccess',
      'one key: ShipOrderSuccess, ShipOrderSuccess',
      'two keys: Conflict, ShipOrderSuccess',
    ]);
    expect(await shipmentsByOrder(sandbox, begin)).toEqual(onceEach(orderIds));
    server.signal('SIGTERM');
    expect(await server.exit).toEqual({ code: 0, signal: null, errors: '' });
    await sandbox.close();
  });
});

test('an order is shipped once if a worker is killed during shipOrder', { timeout: 60_000 }, async () => {
  const begin = new Date();
  const sandbox = await startSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs: 60_000 } });
  const server = startWorkers({ UPSTREAM_URL: sandbox.url });
  const { graphql } = await server.listening();
  const [working, other] = (await server.workers()).map(({ pid }) => pid);
  const ask = async (idempotencyKey: string | null) => {
    const input = { order: 'orders/ca2496', origin: 'origins/ca4', package: parcel, idempotencyKey };
    const response = await fetch(graphql, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${sandbox.tokens.first}`,
        connection: 'close',
      },
      body: JSON.stringify({ query: shipOrder, variables: { input } }),
    });
    return (await response.json()).data.shipOrder.__typename;
  };
  sandbox.faults.add({ kind: 'delay', delayMs: 1_000, method: 'POST', path: '/v1/shipments', times: 1 });
  // Each worker gets one request, and one worker is stopped at first.
  process.kill(Number(other), 'SIGSTOP');
  const asked = ['died', 'died'].map((key) => ask(key).catch(() => 'cut off'));
  await expect.poll(() => sandbox.requests.lines()).toContain('POST /v1/shipments');
  process.kill(Number(working), 'SIGKILL');
  process.kill(Number(other), 'SIGCONT');
  expect((await Promise.all(asked)).sort()).toEqual(['ShipOrderSuccess', 'cut off']);
  await server.workers(3);
  expect(await Promise.all([ask('died'), ask(null)])).toEqual(['ShipOrderSuccess', 'Conflict']);
  expect(await shipmentsByOrder(sandbox, begin)).toEqual(onceEach(['orders/ca2496']));
  server.signal('SIGTERM');
  await server.exit;
  await sandbox.close();
});

function keysOf(round: number): [how: string, keys: (string | null)[]] {
  if (round % 3 === 0) return ['no keys', [null, null]];
  if (round % 3 === 1) return ['one key', [`same ${round}`, `same ${round}`]];
  return ['two keys', [`one ${round}`, `other ${round}`]];
}
