import type { OriginJson, ShipmentJson } from '../../src/rest/types.ts';
import { byName } from '../rest.ts';
import { courierOf, fullName, type Screen } from '../screen.ts';

/** What is on its way, and from where. */
export const shipmentBoard: Screen = {
  name: 'shipment board, 100 shipments',
  query: `
    query ShipmentBoard {
      shipments(first: 100) {
        nodes {
          id
          status
          updateTime
          requiresPickup
          courier { code }
          totalCost { cents }
          recipient { fullName phoneNumber address { locality } }
          origin { id address { locality } }
        }
      }
    }
  `,
  async byRest(rest) {
    const [shipments, origins] = await Promise.all([
      rest.page<ShipmentJson>('/v1/shipments', { pageSize: 100 }),
      rest.all<OriginJson>('/v1/origins'),
    ]);
    const originNamed = byName(origins);
    const nodes = shipments.map((shipment) => {
      const { name, address } = originNamed(shipment.origin ?? '');
      const { recipient } = shipment;
      return {
        id: shipment.name,
        status: shipment.status,
        updateTime: shipment.updateTime,
        requiresPickup: shipment.requiresPickup,
        courier: courierOf(shipment),
        totalCost: { cents: shipment.totalCostCents },
        recipient: recipient && {
          fullName: fullName(recipient),
          phoneNumber: recipient.phoneNumber,
          address: { locality: recipient.address.locality },
        },
        origin: { id: name, address: { locality: address?.locality } },
      };
    });
    return { shipments: { nodes } };
  },
};
