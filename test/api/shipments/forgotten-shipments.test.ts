import { afterAll, expect, test } from 'vitest';
import type { KeyStore } from '../../../src/writes/store/key-store.ts';
import { openSqliteStore } from '../../../src/writes/store/sqlite-store.ts';
import { type KeyedResult, keyedMutation } from '../../fixtures/keyed-mutations.ts';
import { organizationCall } from '../../fixtures/known-merchant.ts';
import { orderInput, orderToShip } from '../../fixtures/order-to-ship.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

/** A store that has failed over to a standby without the keys and notes that were acknowledged before. */
async function startForgetful(ageMs: number): Promise<KeyStore> {
  const store = await openSqliteStore({ file: 'memory' });
  return {
    ...store,
    async claim(key, fingerprint) {
      const result = await store.claim(key, fingerprint);
      return result.state === 'claimed' ? { ...result, lossAgeMs: ageMs } : result;
    },
  };
}

const { sandbox, ...before } = await startWaybill();
const waybill = { ...before, sandbox };
afterAll(() => waybill[Symbol.asyncDispose]());
const startAfter = async (ageMs = 60_000, options = {}) =>
  startWaybill({}, { sandbox, keyStore: await startForgetful(ageMs), ...options });

async function run(server: Waybill, name: string, input: object) {
  const { data, errors, calls } = await server.ask<KeyedResult, unknown>(keyedMutation(name).document, {
    input,
  });
  expect(errors).toBeUndefined();
  return { result: data.result, calls: calls.map((call) => call.replace(/\?.*/, '')) };
}
const hasPosted = (calls: string[]) => calls.includes('POST /v1/shipments');

test('after a failover, shipOrder returns Conflict if the order names a shipment', async () => {
  const input = { ...(await orderToShip(waybill)), idempotencyKey: 'named' };
  expect((await run(waybill, 'shipOrder', input)).result.__typename).toBe('ShipOrderSuccess');
  await using after = await startAfter();
  const { result, calls } = await run(after, 'shipOrder', input);
  expect(result.__typename).toBe('Conflict');
  expect(calls).toEqual([organizationCall, `GET /v1/${input.order}`, 'GET /v1/origins']);
});

test('after a failover, shipOrder finds a shipment that the order does not name yet', async () => {
  const input = { ...(await orderToShip(waybill)), idempotencyKey: 'unnamed' };
  await run(waybill, 'shipOrder', input);
  await using after = await startAfter();
  const show = after.changeAnswer(`/v1/${input.order}`, { shipment: undefined });
  const { result, calls } = await run(after, 'shipOrder', input);
  show();
  expect(result.__typename).toBe('Conflict');
  expect(hasPosted(calls)).toBe(false);
  // The quotes of the shipments to the same person show their orders.
  const look = calls.slice(calls.indexOf('POST /v1/quotes') + 1);
  expect(look.slice(0, 2)).toEqual([`GET /v1/${input.order}`, 'GET /v1/shipments']);
  expect(new Set(look.slice(2).map((call) => call.replace(/\w+$/, '')))).toEqual(
    new Set(['GET /v1/quotes/']),
  );
});

test('after a failover, shipOrder reads the order and shipments again, and then ships', async () => {
  // Other orders of the same person do not matter.
  await run(waybill, 'shipOrder', await orderToShip(waybill));
  await using after = await startAfter();
  const { result, calls } = await run(after, 'shipOrder', {
    ...(await orderToShip(waybill)),
    idempotencyKey: 'new',
  });
  expect(result.__typename).toBe('ShipOrderSuccess');
  expect(calls.filter((call) => call === 'POST /v1/shipments')).toHaveLength(1);
  expect(calls.filter((call) => call === 'GET /v1/shipments')).toHaveLength(1);
});

test('after a failover, createShipment finds the earlier shipment of its quote', async () => {
  const input = { ...(await keyedMutation('createShipment').newInput(waybill)), idempotencyKey: 'quote' };
  expect((await run(waybill, 'createShipment', input)).result.__typename).toBe('CreateShipmentSuccess');
  await using after = await startAfter();
  const { result, calls } = await run(after, 'createShipment', input);
  expect(result.__typename).toBe('Conflict');
  expect(hasPosted(calls)).toBe(false);
});

test('after a failover, shipOrder repeats an empty search after a wait', async () => {
  await using after = await startAfter(0, { processingMs: 2_000 });
  const { result, calls } = await run(after, 'shipOrder', {
    ...(await orderToShip(waybill)),
    idempotencyKey: 'soon',
  });
  expect(result.__typename).toBe('ShipOrderSuccess');
  expect(calls.filter((call) => call === 'GET /v1/shipments')).toHaveLength(2);
});

/** Ships an order to a person to whom another order went 49 hours ago, by a quote that REST no longer has. */
async function shipAgainAfter49Hours(name: string, changeRow = (row: object) => row) {
  const recipient = { ...orderInput.recipient, firstName: name, phoneNumber: '+573009998877' };
  await run(waybill, 'shipOrder', await orderToShip(waybill, { recipient }));
  sandbox.clock.advance(49 * 3_600_000);
  const input = { ...(await orderToShip(waybill, { recipient })), idempotencyKey: name };
  await using after = await startAfter();
  const ends = [
    sandbox.faults.add({ kind: 'status', status: 404, method: 'GET', path: /^\/v1\/quotes\// }),
    sandbox.faults.add({
      kind: 'change',
      method: 'GET',
      path: '/v1/shipments',
      change: (answer) => {
        const rows: object[] = Object(answer).shipments;
        return { ...Object(answer), shipments: rows.map(changeRow) };
      },
    }),
  ];
  const { result, calls } = await run(after, 'shipOrder', input);
  for (const end of ends) end();
  return { result, look: calls.slice(calls.indexOf('POST /v1/quotes') + 1), order: `GET /v1/${input.order}` };
}

test('after a failover, shipOrder does not depend on shipments to the same person before 48 hours', async () => {
  const { result, look, order } = await shipAgainAfter49Hours('Rosa');
  expect(result.__typename).toBe('ShipOrderSuccess');
  // The order of the result is read again.
  expect(look).toEqual([order, 'GET /v1/shipments', 'POST /v1/shipments', order]);
});

test('after a failover, a shipment to the same person without a time may be that of the order', async () => {
  const withoutTime = (row: object) => ({ ...row, createTime: undefined });
  const { result, look, order } = await shipAgainAfter49Hours('Nora', withoutTime);
  expect(result.__typename).toBe('OutcomeUnknown');
  expect(look.slice(0, 2)).toEqual([order, 'GET /v1/shipments']);
  expect(hasPosted(look)).toBe(false);
});

test('without a failover, shipOrder searches for no earlier shipment', async () => {
  const { calls } = await run(waybill, 'shipOrder', {
    ...(await orderToShip(waybill)),
    idempotencyKey: 'usual',
  });
  expect(hasPosted(calls)).toBe(true);
  expect(calls).not.toContain('GET /v1/shipments');
});
