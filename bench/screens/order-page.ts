import type { LocationJson, OrderJson, OriginJson, QuoteJson, ShipmentJson } from '../../src/rest/types.ts';
import { byName, type Rest } from '../rest.ts';
import { courierOf, fullName, labelOf, type Screen } from '../screen.ts';

const order = 'orders/ca2481';

/** Everything about one order, with the customer's latest ones beside it. */
export const orderPage: Screen = {
  name: 'order page',
  query: `
    query OrderPage($order: ID!) {
      order(id: $order) {
        id
        createTime
        status
        contentDescription
        notes
        cashOnDelivery { cents }
        recipient {
          fullName
          phoneNumber
          address { addressLines }
          location { administrativeArea locality }
          orders(first: 5) { nodes { id createTime status } }
        }
        shipment {
          status
          totalCost { cents }
          label { url }
          courier { code }
          origin { address { locality } }
          quote { offers { courier { code } status shipmentCost { cents } } }
        }
      }
    }
  `,
  variables: { order },
  async byRest(rest) {
    const asked = await rest.record<OrderJson>(order);
    const { recipient } = asked;
    const [shipment, locations, latest] = await Promise.all([
      asked.shipment === undefined ? null : shipmentShown(rest, asked.shipment),
      rest.page<LocationJson>('/v1/locations', { query: recipient.location ?? '', pageSize: 1000 }),
      // A little more than is shown: the search also finds other people's references that are like the number.
      rest.page<OrderJson>('/v1/orders', { search: recipient.phoneNumber, pageSize: 10 }),
    ]);
    const { administrativeArea, locality } = byName(locations)(recipient.location ?? '').address;
    const nodes = latest
      .filter((other) => other.recipient.phoneNumber === recipient.phoneNumber)
      .slice(0, 5)
      .map(({ name, createTime, status }) => ({ id: name, createTime, status }));
    return {
      order: {
        id: asked.name,
        createTime: asked.createTime,
        status: asked.status,
        contentDescription: asked.contentDescription,
        notes: asked.notes,
        cashOnDelivery: { cents: asked.cashOnDeliveryRequestCents },
        recipient: {
          fullName: fullName(recipient),
          phoneNumber: recipient.phoneNumber,
          address: { addressLines: recipient.address.addressLines },
          location: { administrativeArea, locality },
          orders: { nodes },
        },
        shipment,
      },
    };
  },
};

async function shipmentShown(rest: Rest, name: string) {
  const [shipment, origins] = await Promise.all([
    rest.record<ShipmentJson>(name),
    rest.all<OriginJson>('/v1/origins'),
  ]);
  const { offers } = await rest.record<QuoteJson>(shipment.quote ?? '');
  return {
    status: shipment.status,
    totalCost: { cents: shipment.totalCostCents },
    label: labelOf(shipment),
    courier: courierOf(shipment),
    origin: { address: { locality: byName(origins)(shipment.origin ?? '').address?.locality } },
    quote: {
      offers: offers.map((offer) => ({
        courier: courierOf(offer),
        status: offer.status,
        shipmentCost: { cents: offer.shipmentCostCents },
      })),
    },
  };
}
