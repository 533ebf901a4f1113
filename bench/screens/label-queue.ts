import type { OrderJson, ShipmentJson } from '../../src/rest/types.ts';
import { shipmentsOf } from '../rest.ts';
import { courierOf, fullName, labelOf, type Screen } from '../screen.ts';

/** The labels to print today: packed orders whose shipments are there, and those that wait for one. */
export const labelQueue: Screen = {
  name: 'label queue',
  query: `
    query LabelQueue {
      orders(status: [READY], first: 100) {
        nodes {
          id
          contentDescription
          recipient { fullName address { locality addressLines } }
          shipment { id status courier { code } label { url } }
        }
      }
    }
  `,
  async byRest(rest) {
    const [orders, newest] = await Promise.all([
      rest.page<OrderJson>('/v1/orders', { status: 'READY', pageSize: 100 }),
      rest.page<ShipmentJson>('/v1/shipments', { pageSize: 100 }),
    ]);
    const shipmentOf = await shipmentsOf(rest, orders, newest);
    const nodes = orders.map((order) => {
      const { locality, addressLines } = order.recipient.address;
      const shipment = shipmentOf(order);
      return {
        id: order.name,
        contentDescription: order.contentDescription,
        recipient: { fullName: fullName(order.recipient), address: { locality, addressLines } },
        shipment:
          shipment === undefined
            ? null
            : {
                id: shipment.name,
                status: shipment.status,
                courier: courierOf(shipment),
                label: labelOf(shipment),
              },
      };
    });
    return { orders: { nodes } };
  },
};
