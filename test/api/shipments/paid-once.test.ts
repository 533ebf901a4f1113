import pLimit from 'p-limit';
import { describe, expect, test } from 'vitest';
import type { Quirks } from '../../../src/sandbox/sandbox.ts';
import { createSeed, type Seed } from '../../../src/sandbox/seed/seed.ts';
import { ShipOrderDocument, type ShipOrderInput } from '../../documents.generated.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { onceEach, shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { rounds } from '../../fixtures/rounds.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

// Before a service that takes every shipment, and has each paid.

const atOnce = 10;

const ship = async ({ ask }: Waybill, input: ShipOrderInput): Promise<string> => {
  const { data, errors } = await ask(ShipOrderDocument, { input });
  return errors === undefined ? data.shipOrder.__typename : String(errors[0]?.extensions.code);
};

/** What came of each round, without repetitions. */
async function inRounds(round: (index: number) => Promise<string[]>): Promise<string[]> {
  const limit = pLimit(atOnce);
  const indexes = Array.from({ length: rounds }, (_, index) => index);
  const outcomes = await limit.map(indexes, async (index) => (await round(index)).join(', '));
  return [...new Set(outcomes)];
}

const success = 'ShipOrderSuccess';

describe.each([
  ['immediately', 0],
  ['after five seconds', 5_000],
])('an order that shows its shipment %s', (_when, namedAfterMs) => {
  const quirks: Partial<Quirks> = { shipsAgain: true, shipmentNamedAfterMs: namedAfterMs };

  test.each<[string, (round: number) => [string | null, string | null], string]>([
    ['without keys', () => [null, null], 'Conflict, ShipOrderSuccess'],
    ['with two different keys', (round) => [`one ${round}`, `other ${round}`], 'Conflict, ShipOrderSuccess'],
    [
      'with the same key',
      (round) => [`same ${round}`, `same ${round}`],
      'ShipOrderSuccess, ShipOrderSuccess',
    ],
  ])(
    'is shipped once by two concurrent shipOrder mutations %s',
    async (_how, keysOf, expected) => {
      await using waybill = await startWaybill({}, { quirks });
      const orders: string[] = [];
      const outcomes = await inRounds(async (round) => {
        const input = await orderToShip(waybill);
        orders.push(input.order);
        const both = keysOf(round).map((idempotencyKey) => ship(waybill, { ...input, idempotencyKey }));
        return (await Promise.all(both)).sort();
      });
      expect(outcomes).toEqual([expected]);
      // Later too, whether the order names its shipment by then or not.
      const [first = ''] = orders;
      const again = { ...(await orderToShip(waybill)), order: first };
      expect(await ship(waybill, again)).toBe('Conflict');
      waybill.sandbox.clock.advance(5_000);
      expect(await ship(waybill, again)).toBe('Conflict');
      expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach(orders));
    },
    60_000,
  );
});

/** The first merchant's shipments, and others like them, 3,000 in all. */
function manyShipments(now: Date): Seed {
  const seed = createSeed(now);
  const [first, ...others] = seed.merchants;
  if (first === undefined) throw new Error('the seed has no merchant');
  const more = first.shipments.slice(0, 3_000 - first.shipments.length);
  const copies = more.map((shipment) => ({ ...shipment, name: `${shipment.name}-copy` }));
  const all = [...first.shipments, ...copies].sort((one, other) =>
    one.createTime < other.createTime ? 1 : -1,
  );
  return { ...seed, merchants: [{ ...first, shipments: all }, ...others] };
}

describe.each([
  ['newest first', false],
  ['oldest first', true],
])('shipOrder for a merchant whose 3,000 shipments are listed %s', (_order, oldestFirst) => {
  test('creates no second shipment on a retry after a lost response', async () => {
    const quirks = { oldestFirst, shipsAgain: true, shipmentNamedAfterMs: 60_000 };
    await using waybill = await startWaybill({}, { quirks, seed: manyShipments });
    const inputs = await pLimit(atOnce).map(Array.from({ length: rounds }), async (_, index) => ({
      ...(await orderToShip(waybill)),
      idempotencyKey: `lost ${index}`,
    }));
    const limit = pLimit(atOnce);
    const heal = waybill.sandbox.faults.add({
      kind: 'applied-then-cut',
      method: 'POST',
      path: '/v1/shipments',
    });
    const lost = await limit.map(inputs, (input) => ship(waybill, input));
    heal();
    expect([...new Set(lost)]).toEqual(['OutcomeUnknown']);
    // Half of the clients send another key, or none.
    const found = await limit.map(inputs, (input, index) =>
      ship(waybill, index % 2 === 0 ? input : { ...input, idempotencyKey: null }),
    );
    expect(found).toEqual(inputs.map((_, index) => (index % 2 === 0 ? success : 'Conflict')));
    const orders = inputs.map(({ order }) => order);
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach(orders));
  }, 150_000);
});
