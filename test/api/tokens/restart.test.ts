import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSqliteStore } from '../../../src/writes/store/sqlite-store.ts';
import { type KeyedMutation, type KeyedResult, keyedMutations } from '../../fixtures/keyed-mutations.ts';
import { organizationCall, otherInputMessage } from '../../fixtures/known-merchant.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const directory = mkdtempSync(join(tmpdir(), 'waybill-restart-'));
afterAll(() => rmSync(directory, { recursive: true }));

const sandbox = await startSeededSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs: 60_000 } });
afterAll(() => sandbox.close());

/** Runs work with a server on this file, and stops the server. */
async function inServer<Result>(file: string, work: (waybill: Waybill) => Promise<Result>): Promise<Result> {
  const keyStore = await openSqliteStore({ file: join(directory, file), timeoutMs: 30_000 });
  try {
    await using waybill = await startWaybill({}, { keyStore, sandbox });
    return await work(waybill);
  } finally {
    await keyStore.close();
  }
}

const ask = (waybill: Waybill, { document }: KeyedMutation, input: object) =>
  waybill.ask<KeyedResult, { input: object }>(document, { input });
const named = keyedMutations.map((mutation): [string, KeyedMutation] => [mutation.name, mutation]);

test.each(named)('a restart keeps the result of %s', async (name, mutation) => {
  const { input, first } = await inServer(name, async (waybill) => {
    const input = { ...(await mutation.newInput(waybill)), idempotencyKey: name };
    return { input, first: await ask(waybill, mutation, input) };
  });
  expect(first.data.result.__typename).toMatch(/Success$/);
  const again = await inServer(name, (waybill) => ask(waybill, mutation, input));
  expect([again.data, again.errors]).toEqual([first.data, undefined]);
  expect(again.calls.filter((call) => call.startsWith('POST'))).toEqual([]);
});

test.each(named)(
  'after a restart, a keyed retry of %s sends no POST if the outcome is unknown',
  async (name, mutation) => {
    const file = `unknown-${name}`;
    const input = await inServer(file, async (waybill) => {
      const input = { ...(await mutation.newInput(waybill)), idempotencyKey: `unknown ${name}` };
      sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: mutation.path, times: 1 });
      expect((await ask(waybill, mutation, input)).data.result.__typename).toBe('OutcomeUnknown');
      return input;
    });
    const again = await inServer(file, (waybill) => ask(waybill, mutation, input));
    expect(again.data.result.__typename).toMatch(mutation.isFoundAgain ? /Success$/ : /^OutcomeUnknown$/);
    expect(again.calls.filter((call) => call.startsWith('POST'))).toEqual([]);
  },
);

test('after a restart, a different input with a used key is a Conflict', async () => {
  const [, mutation] = named[0] ?? [];
  if (mutation === undefined) throw new Error('expected mutations');
  const input = await inServer('conflict', async (waybill) => {
    const input = { ...(await mutation.newInput(waybill)), idempotencyKey: 'conflict' };
    await ask(waybill, mutation, input);
    return input;
  });
  const other = await inServer('conflict', (waybill) =>
    ask(waybill, mutation, { ...input, notes: 'Otras notas' }),
  );
  expect(other.data.result).toEqual({ __typename: 'Conflict', message: otherInputMessage });
  expect(other.calls).toEqual([organizationCall]);
});

test('after a restart, shipping a shipped order is a Conflict even without a key', async () => {
  const mutation = keyedMutations.find(({ name }) => name === 'shipOrder');
  if (mutation === undefined) throw new Error('expected shipOrder');
  const input = await inServer('lock', async (waybill) => {
    const input = await orderToShip(waybill);
    expect((await ask(waybill, mutation, input)).data.result.__typename).toBe('ShipOrderSuccess');
    return input;
  });
  // The order does not name its shipment yet.
  const { data } = await inServer('lock', (waybill) => ask(waybill, mutation, input));
  expect(data.result).toEqual({
    __typename: 'Conflict',
    message: expect.stringMatching(`^${input.order} is already shipped as shipments/ca\\d{4}`),
  });
});
