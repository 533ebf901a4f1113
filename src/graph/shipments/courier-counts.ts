import { builder } from '../builder.ts';
import { shipmentStatus } from '../fields/shipment-status.ts';
import { defineStatusCounts } from '../fields/status-counts.ts';
import { Courier, courierNamed } from '../quotes/courier.ts';

const counts = defineStatusCounts('Shipment', 'shipments', shipmentStatus);

const CourierShipmentCount = builder
  .objectRef<{ courier: string | null; byStatus: ReadonlyMap<string, number> }>('CourierShipmentCount')
  .implement({
    description: 'The number of shipments of one courier.',
    fields: (t) => ({
      courier: t.field({
        type: Courier,
        nullable: true,
        description: 'The courier, or null for the shipments without a courier.',
        resolve: ({ courier }) => (courier === null ? null : courierNamed(courier)),
      }),
      total: t.field(
        counts.total('The number of shipments of the courier in all statuses.', ({ byStatus }) => byStatus),
      ),
      byStatus: t.field(
        counts.byStatus(
          'The number of shipments of the courier in each status. Statuses without shipments are omitted.',
          ({ byStatus }) => byStatus,
        ),
      ),
    }),
  });

builder.objectField(counts.ref, 'byCourier', (t) =>
  t.field({
    type: [CourierShipmentCount],
    description:
      'The number of shipments of each courier. Couriers without shipments are omitted. For each status, the numbers of ' +
      'all couriers add up to the number in `byStatus`.',
    extensions: { estimatedItems: 10 },
    resolve: ({ byCourier }) => Array.from(byCourier, ([courier, byStatus]) => ({ courier, byStatus })),
  }),
);
