import type { OrderJson } from '../../src/rest/types.ts';
import { shipmentsOf } from '../rest.ts';
import { courierOf, fullName, type Screen } from '../screen.ts';

const phoneNumber = '+573104567890';

/** A customer's latest 20 orders, whose shipments lie far apart in the list of all: few of them are on its newest page. */
export const customerPage: Screen = {
  name: 'customer page, 20 orders',
  query: `
    query CustomerPage($phoneNumber: String!) {
      orders(search: $phoneNumber, first: 20) {
        nodes {
          id
          createTime
          status
          contentDescription
          sellingPrice { cents }
          recipient { fullName }
          customerBehavior { totalShipments deliveredShipments returnedShipments }
          shipment { status updateTime courier { code } totalCost { cents } }
        }
      }
    }
  `,
  variables: { phoneNumber },
  async byRest(rest) {
    const orders = await rest.page<OrderJson>('/v1/orders', { search: phoneNumber, pageSize: 20 });
    const shipmentOf = await shipmentsOf(rest, orders, []);
    const nodes = orders.map((order) => {
      const { totalShipments, deliveredShipments, returnedShipments } = order.customerBehavior;
      const shipment = shipmentOf(order);
      return {
        id: order.name,
        createTime: order.createTime,
        status: order.status,
        contentDescription: order.contentDescription,
        sellingPrice: { cents: order.sellingPriceCents },
        recipient: { fullName: fullName(order.recipient) },
        customerBehavior: { totalShipments, deliveredShipments, returnedShipments },
        shipment:
          shipment === undefined
            ? null
            : {
                status: shipment.status,
                updateTime: shipment.updateTime,
                courier: courierOf(shipment),
                totalCost: { cents: shipment.totalCostCents },
              },
      };
    });
    return { orders: { nodes } };
  },
};
