import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { ShipOrderDocument } from '../../documents.generated.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { isPostgresMissing, openStore, parsedUrl, sharedPostgres } from '../../fixtures/postgres.ts';
import { onceEach, shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { rounds } from '../../fixtures/rounds.ts';
import { startOfTime, startWaybill, type Waybill } from '../../harness.ts';

const atOnce = 10;

/**
 * In each round, two tokens ship one order at the same time, the second one through the last server. Expects one shipment
 * of each order, and the right answers.
 */
async function expectOneShipmentEach(first: Waybill, last: Waybill): Promise<void> {
  const { tokens } = first.sandbox;
  const orders: string[] = [];
  const outcomes = await pLimit(atOnce).map(Array.from({ length: rounds }), async (_, round) => {
    const input = await orderToShip(first);
    orders.push(input.order);
    const [how, keys] = keysOf(round);
    const ship = async (waybill: Waybill, bearer: string, idempotencyKey: string | null = null) => {
      const { data } = await waybill.ask(ShipOrderDocument, { input: { ...input, idempotencyKey } }, bearer);
      const { shipOrder } = data;
      return 'shipment' in shipOrder ? shipOrder.shipment.id : shipOrder.__typename;
    };
    const [one, other] = await Promise.all([
      ship(first, tokens.first, keys[0]),
      ship(last, tokens.firstRefreshed, keys[1]),
    ]);
    const conflicts = [one, other].filter((outcome) => outcome === 'Conflict').length;
    return `${how}: ${conflicts} Conflict, ${one === other ? 'the same shipment' : 'different results'}`;
  });
  expect([...new Set(outcomes)].sort()).toEqual([
    'no keys: 1 Conflict, different results',
    'one key: 0 Conflict, the same shipment',
    'two keys: 1 Conflict, different results',
  ]);
  expect(await shipmentsByOrder(first.sandbox, startOfTime)).toEqual(onceEach(orders));
}

const limits = { timeout: 100_000 };

test.each([
  ['immediately', 0],
  ['after five seconds', 5_000],
])(
  'two tokens ship an order once if the order shows its shipment %s',
  limits,
  async (_when, shipmentNamedAfterMs) => {
    await using waybill = await startWaybill({}, { quirks: { shipsAgain: true, shipmentNamedAfterMs } });
    await expectOneShipmentEach(waybill, waybill);
  },
);

test.skipIf(isPostgresMissing)('two servers with one PostgreSQL ship an order once', limits, async () => {
  const url = parsedUrl(await sharedPostgres());
  const keyStores = [await openStore(url), await openStore(url)] as const;
  const quirks = { shipsAgain: true, shipmentNamedAfterMs: 5_000 };
  await using waybill = await startWaybill({}, { quirks, keyStore: keyStores[0] });
  await using other = await startWaybill({}, { sandbox: waybill.sandbox, keyStore: keyStores[1] });
  await expectOneShipmentEach(waybill, other);
  for (const keyStore of keyStores) await keyStore.close();
});

function keysOf(round: number): [how: string, keys: (string | null)[]] {
  if (round % 3 === 0) return ['no keys', [null, null]];
  if (round % 3 === 1) return ['one key', [`same ${round}`, `same ${round}`]];
  return ['two keys', [`one ${round}`, `other ${round}`]];
}
