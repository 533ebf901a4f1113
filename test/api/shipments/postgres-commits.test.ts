import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KeyStore } from '../../../src/writes/store/key-store.ts';
import { inputFor, literal } from '../../fixtures/mutation-inputs.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import {
  isPostgresMissing,
  openStore,
  type Postgres,
  parsedUrl,
  sharedPostgres,
} from '../../fixtures/postgres.ts';
import { startWaybill, type Waybill } from '../../harness.ts';

describe.skipIf(isPostgresMissing)('with keys in PostgreSQL', () => {
  let server: Postgres;
  let keyStore: KeyStore;
  let waybill: Waybill;
  beforeAll(async () => {
    server = await sharedPostgres();
    // Without renewals, all commits are those of the writes.
    keyStore = await openStore(parsedUrl(server), { renewEveryMs: 3_600_000, leaseMs: 7_200_000 });
    waybill = await startWaybill({}, { keyStore });
    // The first key of a service notes that the service has organizations.
    await waybill.ask(mutation('createOrder', { idempotencyKey: 'first' }));
  });
  afterAll(async () => {
    await waybill?.[Symbol.asyncDispose]();
    await keyStore?.close();
  });

  const mutation = (name: string, fields: object) =>
    `mutation { ${name}(input: ${literal({ ...inputFor(name), ...fields })}) { __typename } }`;

  /** How many transactions changed something while `work` ran. */
  async function commitsOf(work: () => Promise<unknown>): Promise<number> {
    const next = async () => Number((await server.sql('SELECT pg_current_xact_id()::text AS id'))[0]?.id);
    const before = await next();
    await work();
    return (await next()) - before - 1;
  }
  async function run(document: string, typename: string): Promise<void> {
    const { data, errors } = await waybill.ask(document);
    expect([errors, JSON.stringify(data)]).toEqual([undefined, expect.stringContaining(typename)]);
  }

  test('a write with a key costs three commits', async () => {
    const document = mutation('createOrder', { idempotencyKey: 'order' });
    expect(await commitsOf(() => run(document, 'CreateOrderSuccess'))).toBe(3);
  });

  test('a repeated write costs no commit', async () => {
    const document = mutation('createOrder', { idempotencyKey: 'order' });
    expect(await commitsOf(() => run(document, 'CreateOrderSuccess'))).toBe(0);
  });

  test.each([
    ['with a key', { idempotencyKey: 'shipment' }, 5],
    ['without a key', {}, 3],
  ])('shipOrder $0 costs $2 commits', async (_how, key, commits) => {
    const document = mutation('shipOrder', { ...(await orderToShip(waybill)), ...key });
    expect(await commitsOf(() => run(document, 'ShipOrderSuccess'))).toBe(commits);
  });

  test('a query and a write without a key cost no commit', async () => {
    expect(await commitsOf(() => run('{ orders(first: 2) { nodes { id } } }', 'nodes'))).toBe(0);
    expect(await commitsOf(() => run(mutation('createOrder', {}), 'CreateOrderSuccess'))).toBe(0);
  });

  test('a wait for the claim of another server costs no commit', async () => {
    const key = { merchant: 'merchant', id: 'key' };
    await keyStore.claim(key, 'input');
    const wait = async () => {
      for (let polls = 0; polls < 10; polls += 1)
        expect(await keyStore.claim(key, 'input')).toEqual({ state: 'held' });
    };
    expect(await commitsOf(wait)).toBe(0);
  });
});
