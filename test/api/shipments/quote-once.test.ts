import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { print } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { openSqliteStore } from '../../../src/writes/store/sqlite-store.ts';
import {
  CreateQuoteDocument,
  CreateShipmentDocument,
  type CreateShipmentInput,
  ShipOrderDocument,
} from '../../documents.generated.ts';
import { learnMerchants } from '../../fixtures/known-merchant.ts';
import { type OrderToShip, orderInput, orderToShip, parcel } from '../../fixtures/order-to-ship.ts';
import { onceEach, shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { startSeededSandbox } from '../../fixtures/seeded-sandbox.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

// A service that takes every shipment, and has each paid.

const late = { shipsAgain: true, shipmentNamedAfterMs: 5_000 };
const path = '/v1/shipments';

/** Creates a quote from Pitalito. @returns the input of createShipment that accepts an offer of the quote. */
async function quoteToShip({ ask }: Waybill, order?: string) {
  const { location, ...recipient } = orderInput.recipient;
  const input = {
    origin: 'locations/huila-pitalito',
    destination: location,
    package: parcel,
    ...(order && { order }),
  };
  const { data } = await ask(CreateQuoteDocument, { input });
  if (!('quote' in data.createQuote)) throw new Error(JSON.stringify(data));
  const quote = data.createQuote.quote.id;
  const courier = 'couriers/condor-veloz';
  return { quote, courier, origin: 'origins/ca4', recipient, requiresPickup: true };
}

async function accept({ ask }: Waybill, input: CreateShipmentInput, idempotencyKey: string) {
  const { data } = await ask(CreateShipmentDocument, { input: { ...input, idempotencyKey } });
  return data.createShipment;
}

async function ship({ ask }: Waybill, input: OrderToShip, idempotencyKey: string | null = null) {
  const { data } = await ask(ShipOrderDocument, { input: { ...input, idempotencyKey } });
  return data.shipOrder;
}

const typesOf = (results: { __typename: string }[]) => results.map(({ __typename }) => __typename);
const shippedAlready = (name: string) => ({
  __typename: 'Conflict',
  message: expect.stringMatching(`^${name} is already shipped as shipments/ca\\d{4}`),
});

describe.each([
  ['immediately', 0],
  ['after five seconds', 5_000],
])('an order that shows its shipment %s', (_when, shipmentNamedAfterMs) => {
  const quirks = { shipsAgain: true, shipmentNamedAfterMs };

  test('is shipped once by concurrent createShipment and shipOrder mutations', async () => {
    await using waybill = await startWaybill({}, { quirks });
    const orders: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const input = await orderToShip(waybill);
      orders.push(input.order);
      const quote = await quoteToShip(waybill, input.order);
      const first = () => accept(waybill, quote, `accept ${round}`);
      const second = () => ship(waybill, input, round % 4 < 2 ? null : `ship ${round}`);
      const both = await Promise.all(round % 2 === 0 ? [first(), second()] : [second(), first()]);
      expect(typesOf(both)).toContain('Conflict');
      expect(typesOf(both)).toContainEqual(expect.stringMatching(/Success$/));
    }
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach(orders));
  });

  test.each<[string, (waybill: Waybill, input: OrderToShip) => Promise<{ __typename: string }>]>([
    ['shipOrder', (waybill, input) => ship(waybill, input)],
    [
      'createShipment without a key, a day earlier',
      async (waybill, { order }) => {
        const input = await quoteToShip(waybill, order);
        const { data } = await waybill.ask(CreateShipmentDocument, { input });
        waybill.sandbox.clock.advance(86_400_000);
        return data.createShipment;
      },
    ],
    [
      'createShipment with another quote',
      async (waybill, { order }) => accept(waybill, await quoteToShip(waybill, order), 'first'),
    ],
  ])('is not shipped again by createShipment after %s', async (_what, first) => {
    await using waybill = await startWaybill({}, { quirks });
    const input = await orderToShip(waybill);
    expect((await first(waybill, input)).__typename).toMatch(/Success$/);
    const quote = await quoteToShip(waybill, input.order);
    expect(await accept(waybill, quote, 'second')).toEqual(shippedAlready(input.order));
    waybill.sandbox.clock.advance(5_000);
    expect(await accept(waybill, quote, 'third')).toEqual(shippedAlready(input.order));
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });

  test('is not shipped again by shipOrder after createShipment', async () => {
    await using waybill = await startWaybill({}, { quirks });
    const input = await orderToShip(waybill);
    const quote = await quoteToShip(waybill, input.order);
    expect((await accept(waybill, quote, 'first')).__typename).toBe('CreateShipmentSuccess');
    expect(await ship(waybill, input, 'second')).toMatchObject(shippedAlready(input.order));
    waybill.sandbox.clock.advance(5_000);
    expect(await ship(waybill, input, 'third')).toMatchObject(shippedAlready(input.order));
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });

  test('is not shipped again by createShipment after a lost response', async () => {
    await using waybill = await startWaybill({}, { quirks });
    const input = await orderToShip(waybill);
    const quote = await quoteToShip(waybill, input.order);
    waybill.sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path, times: 1 });
    const both = await Promise.all([accept(waybill, quote, 'one'), accept(waybill, quote, 'other')]);
    expect(typesOf(both).sort()).toEqual(['Conflict', 'OutcomeUnknown']);
    expect(await accept(waybill, quote, 'later')).toEqual(shippedAlready(input.order));
    expect(await ship(waybill, input)).toMatchObject(shippedAlready(input.order));
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach([input.order]));
  });
});

describe('a quote without an order', () => {
  test('gets one shipment from concurrent requests with two keys', async () => {
    await using waybill = await startWaybill({}, { quirks: late });
    const quote = await quoteToShip(waybill);
    const both = await Promise.all([accept(waybill, quote, 'one'), accept(waybill, quote, 'other')]);
    expect(typesOf(both).sort()).toEqual(['Conflict', 'CreateShipmentSuccess']);
    expect(await accept(waybill, quote, 'later')).toEqual(shippedAlready(quote.quote));
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual({ none: 1 });
  });

  test('gets no second shipment after a lost response, even with another key', async () => {
    await using waybill = await startWaybill({}, { quirks: late });
    const quote = await quoteToShip(waybill);
    waybill.sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path, times: 1 });
    const both = await Promise.all([accept(waybill, quote, 'one'), accept(waybill, quote, 'other')]);
    expect(typesOf(both).sort()).toEqual(['Conflict', 'OutcomeUnknown']);
    expect(await accept(waybill, quote, 'later')).toEqual(shippedAlready(quote.quote));
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual({ none: 1 });
  });

  test('can be shipped with a new key if the first attempt created nothing', async () => {
    await using waybill = await startWaybill({}, { quirks: late, processingMs: 0 });
    const quote = await quoteToShip(waybill);
    waybill.sandbox.faults.add({ kind: 'reset', method: 'POST', path, times: 1 });
    expect((await accept(waybill, quote, 'one')).__typename).toBe('OutcomeUnknown');
    expect((await accept(waybill, quote, 'other')).__typename).toBe('CreateShipmentSuccess');
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual({ none: 1 });
  });
});

describe('a server that dies during createShipment', () => {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-dies-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  /** Like `ask`, but keeps the recorded requests. */
  const send = ({ fetch, sandbox }: Waybill, query: string, input?: object) =>
    fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${sandbox.tokens.first}` },
      body: JSON.stringify({ query, variables: { input } }),
    });

  /**
   * Runs two servers on one file. The first server accepts the quote of an order, with a POST that waits 3 seconds for
   * a slot, and loses its store.
   * @param lostAfter the request to REST after which the first server loses its store.
   * @param postDelayMs how long REST works on the POST.
   * @returns what shipOrder of the second server returns then, and the number of shipments.
   */
  async function shipAfterDeath(lostAfter: string, postDelayMs = 0) {
    const file = join(directory, `${lostAfter.replaceAll(/\W/g, '-')}.db`);
    const sandbox = await startSeededSandbox({ quirks: late });
    const keyStore = await openSqliteStore({ file, timeoutMs: 30_000 });
    const nextStore = await openSqliteStore({ file, timeoutMs: 30_000 });
    try {
      const reported: unknown[] = [];
      await using dying = await startWaybill(
        { UPSTREAM_CONNECTIONS: '1' },
        { sandbox, keyStore, report: (error) => reported.push(error) },
      );
      await using next = await startWaybill({}, { sandbox, keyStore: nextStore });
      await learnMerchants(dying, sandbox.tokens.first);
      const input = await orderToShip(next);
      const shipment = { ...(await quoteToShip(next, input.order)), idempotencyKey: 'dying' };
      const readQuote = `/v1/${shipment.quote}`;
      sandbox.faults.add({ kind: 'delay', delayMs: 300, path: readQuote, times: 1 });
      sandbox.faults.add({ kind: 'delay', delayMs: 3_000, path: slowRead, times: 1 });
      sandbox.faults.add({ kind: 'delay', delayMs: postDelayMs, method: 'POST', path, times: 1 });
      sandbox.requests.clear();
      const accepting = send(dying, print(CreateShipmentDocument), shipment);
      await expect.poll(() => sandbox.requests.lines()).toEqual([`GET ${readQuote}`]);
      const reading = send(dying, '{ order(id: "ca2490") { id status } }');
      await expect.poll(() => sandbox.requests.lines()).toContain(lostAfter);
      // The note is stored soon after the quote was read.
      await new Promise((resolve) => setTimeout(resolve, 500));
      await keyStore.close();
      await expect.poll(() => nextStore.failure()).toBeUndefined();
      const result = await ship(next, input, 'next');
      await Promise.all([accepting, reading]);
      // Each failed step of the first server.
      const closed = new StoreUnavailableError('The key store is closed.');
      expect(reported).toEqual(reported.map(() => closed));
      expect(reported).toContainEqual(closed);
      return { result, shipments: await shipmentsByOrder(sandbox, startOfTime), order: input.order };
    } finally {
      await nextStore.close();
      await sandbox.close();
    }
  }
  const slowRead = '/v1/orders/ca2490';

  test('causes no second shipment if the REST service is handling the POST', async () => {
    // REST is done 11 seconds after the note of the POST, and 8 seconds after its bytes.
    const { result, shipments, order } = await shipAfterDeath(`POST ${path}`, 8_000);
    expect(result).toMatchObject(shippedAlready(order));
    expect(shipments).toEqual(onceEach([order]));
  });

  test('does not send a POST that is waiting for a slot', async () => {
    const { result, shipments, order } = await shipAfterDeath(`GET ${slowRead}`);
    expect(result.__typename).toBe('ShipOrderSuccess');
    expect(shipments).toEqual(onceEach([order]));
  });
});
