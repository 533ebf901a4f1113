import type { LocationJson, OrderJson, OriginJson, ShipmentJson } from '../../src/rest/types.ts';
import { byName, shipmentsOf } from '../rest.ts';
import { courierOf, fullName, labelOf, type Screen } from '../screen.ts';

/** The main query: what goes where, with whom, from where, at what cost. */
export const orderBoard: Screen = {
  name: 'order board, 100 orders',
  query: `
    query OrderBoard {
      orders(first: 100) {
        nodes {
          id
          status
          recipient { fullName location { administrativeArea locality } }
          shipment {
            id
            status
            totalCost { cents }
            label { url }
            courier { code }
            origin { id address { locality addressLines } }
          }
        }
      }
    }
  `,
  async byRest(rest) {
    const [orders, newest, origins, locations] = await Promise.all([
      rest.page<OrderJson>('/v1/orders', { pageSize: 100 }),
      rest.page<ShipmentJson>('/v1/shipments', { pageSize: 100 }),
      rest.all<OriginJson>('/v1/origins'),
      rest.all<LocationJson>('/v1/locations'),
    ]);
    const shipmentOf = await shipmentsOf(rest, orders, newest);
    const originNamed = byName(origins);
    const locationNamed = byName(locations);

    function shown(shipment: ShipmentJson) {
      const { name, address } = originNamed(shipment.origin ?? '');
      return {
        id: shipment.name,
        status: shipment.status,
        totalCost: { cents: shipment.totalCostCents },
        label: labelOf(shipment),
        courier: courierOf(shipment),
        origin: {
          id: name,
          address: address && { locality: address.locality, addressLines: address.addressLines },
        },
      };
    }

    const nodes = orders.map((order) => {
      const { administrativeArea, locality } = locationNamed(order.recipient.location ?? '').address;
      const shipment = shipmentOf(order);
      return {
        id: order.name,
        status: order.status,
        recipient: { fullName: fullName(order.recipient), location: { administrativeArea, locality } },
        shipment: shipment === undefined ? null : shown(shipment),
      };
    });
    return { orders: { nodes } };
  },
};
