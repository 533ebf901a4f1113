import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { KeyStore } from '../../../src/writes/store/key-store.ts';
import { openSqliteStore } from '../../../src/writes/store/sqlite-store.ts';
import { type KeyedResult, keyedMutation } from '../../fixtures/keyed-mutations.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { parcel } from '../../fixtures/order-to-ship.ts';
import { isPostgresMissing, openStore, parsedUrl, sharedPostgres } from '../../fixtures/postgres.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

const directory = mkdtempSync(join(tmpdir(), 'waybill-canaries-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Texts that no byte of the file may show. Each one is different. */
const canaries: string[] = [];
const canary = (kind: string): string => {
  const text = `canary-${kind}-${canaries.length}`;
  canaries.push(text);
  return text;
};
const phone = (): string => {
  const text = `+57399${String(1_000_000 + canaries.length)}`;
  canaries.push(text);
  return text;
};
const person = () => ({
  ...order.recipient,
  firstName: canary('name'),
  lastName: canary('name'),
  email: `${canary('email')}@example.com`,
  phoneNumber: phone(),
  address: { addressLines: [canary('street')], organization: canary('organization') },
  documentType: 'CC',
  document: canary('document'),
});

/**
 * Runs each keyed mutation once with new canaries and a new token.
 * @returns the types of the results, and the names of the created order and shipment, if any.
 */
async function runAll(waybill: Waybill) {
  const types: string[] = [];
  const token = waybill.sandbox.issueToken(waybill.sandbox.tokens.first);
  canaries.push(token);
  async function run(name: string, input: object) {
    const { data } = await waybill.ask<KeyedResult, { input: object }>(
      keyedMutation(name).document,
      { input: { ...input, idempotencyKey: canary('key') } },
      token,
    );
    types.push(data.result.__typename);
    return JSON.stringify(data);
  }
  const created = await run('createOrder', {
    ...order,
    recipient: person(),
    contentDescription: canary('content'),
    notes: canary('notes'),
    referenceId: canary('reference'),
    referenceUrl: `https://shop.example/${canary('url')}`,
  });
  const [orderId] = /orders\/\w+/.exec(created) ?? [];
  await run('createQuote', {
    origin: 'locations/huila-pitalito',
    destination: 'locations/narino-pasto',
    package: { ...parcel, contentDescription: canary('package') },
  });
  const { location: _, ...recipient } = person();
  const shipment = await keyedMutation('createShipment').newInput(waybill);
  await run('createShipment', { ...shipment, recipient });
  await run('sendMessage', {
    conversation: 'channels/ca1/conversations/ca53',
    content: { text: canary('text') },
  });
  await run('sendMessageToPhone', {
    channel: 'channels/ca1',
    phone: phone(),
    name: canary('name'),
    text: canary('text'),
  });
  const shipped = await run('shipOrder', {
    order: orderId ?? 'orders/nosuch',
    origin: 'origins/ca4',
    package: { ...parcel, contentDescription: canary('package') },
  });
  const [shipmentId] = /shipments\/\w+/.exec(shipped) ?? [];
  return { types, names: [orderId, shipmentId].filter((name) => name !== undefined) };
}

/** The bytes of the file, and of the files that SQLite keeps beside it. */
const storedBytes = () =>
  Buffer.concat(readdirSync(directory).map((name) => readFileSync(join(directory, name))));

/** Runs all keyed mutations, with and without answers of REST. @returns the names of records that are stored. */
async function fillStore(keyStore: KeyStore): Promise<string[]> {
  await using waybill = await startWaybill({}, { keyStore });
  const { types, names } = await runAll(waybill);
  expect(types.filter((type) => type.endsWith('Success'))).toHaveLength(6);
  expect(names).toHaveLength(2);
  // Attempts without an answer store their progress, and refused ones are released.
  waybill.sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: '/v1/orders', times: 1 });
  waybill.sandbox.faults.add({ kind: 'status', status: 400, method: 'POST', path: '/v1/quotes', times: 1 });
  await runAll(waybill);
  waybill.sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: '/v1/shipments' });
  await runAll(waybill);
  await runAll(waybill);
  expect(canaries.length).toBeGreaterThanOrEqual(100);
  return names;
}

const found = (bytes: Buffer, texts: string[]) => texts.filter((text) => bytes.includes(text));

test('the key store file contains no tokens, keys or input values', async () => {
  const keyStore = await openSqliteStore({ file: join(directory, 'keys'), timeoutMs: 30_000 });
  const names = await fillStore(keyStore);
  expect(readdirSync(directory).sort()).toEqual(['keys', 'keys-wal']);
  const open = storedBytes();
  // The names of records are stored as they are, so the search sees texts.
  expect(found(open, names)).toEqual(names);
  expect(found(open, canaries)).toEqual([]);
  await keyStore.close();
  const closed = storedBytes();
  expect(found(closed, names)).toEqual(names);
  expect(found(closed, canaries)).toEqual([]);
});

test.skipIf(isPostgresMissing)('a dump of PostgreSQL contains no tokens, keys or input values', async () => {
  const server = await sharedPostgres();
  const url = parsedUrl(server);
  const keyStore = await openStore(url);
  const names = await fillStore(keyStore);
  const tables = ['state', 'services', 'owners', 'keys'].map(
    (name) => `SELECT '${name}' AS name, to_jsonb(t)::text AS row FROM ${url.schema}.${name} t`,
  );
  const rows = await server.sql(tables.join(' UNION ALL '));
  expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(['state', 'services', 'owners', 'keys']));
  const dump = Buffer.from(JSON.stringify(rows));
  expect(found(dump, names)).toEqual(names);
  expect(found(dump, canaries)).toEqual([]);
  await keyStore.close();
});
