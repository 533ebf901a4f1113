import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { ShipOrderDocument } from '../../documents.generated.ts';
import { orderToShip } from '../../fixtures/order-to-ship.ts';
import { onceEach, shipmentsByOrder } from '../../fixtures/rest-shipments.ts';
import { rounds } from '../../fixtures/rounds.ts';
import { startOfTime, startWaybill } from '../../harness.ts';

const atOnce = 10;

test.each([
  ['immediately', 0],
  ['after five seconds', 5_000],
])(
  'two tokens ship an order once if the order shows its shipment %s',
  async (_when, shipmentNamedAfterMs) => {
    await using waybill = await startWaybill({}, { quirks: { shipsAgain: true, shipmentNamedAfterMs } });
    const { first, firstRefreshed } = waybill.sandbox.tokens;
    const orders: string[] = [];
    const outcomes = await pLimit(atOnce).map(Array.from({ length: rounds }), async (_, round) => {
      const input = await orderToShip(waybill);
      orders.push(input.order);
      const [how, keys] = keysOf(round);
      const ship = async (bearer: string, idempotencyKey: string | null = null) => {
        const { data } = await waybill.ask(
          ShipOrderDocument,
          { input: { ...input, idempotencyKey } },
          bearer,
        );
        const { shipOrder } = data;
        return 'shipment' in shipOrder ? shipOrder.shipment.id : shipOrder.__typename;
      };
      const [one, other] = await Promise.all([ship(first, keys[0]), ship(firstRefreshed, keys[1])]);
      const conflicts = [one, other].filter((outcome) => outcome === 'Conflict').length;
      return `${how}: ${conflicts} Conflict, ${one === other ? 'the same shipment' : 'different results'}`;
    });
    expect([...new Set(outcomes)].sort()).toEqual([
      'no keys: 1 Conflict, different results',
      'one key: 0 Conflict, the same shipment',
      'two keys: 1 Conflict, different results',
    ]);
    expect(await shipmentsByOrder(waybill.sandbox, startOfTime)).toEqual(onceEach(orders));
  },
  60_000,
);

function keysOf(round: number): [how: string, keys: (string | null)[]] {
  if (round % 3 === 0) return ['no keys', [null, null]];
  if (round % 3 === 1) return ['one key', [`same ${round}`, `same ${round}`]];
  return ['two keys', [`one ${round}`, `other ${round}`]];
}
