import type { LocationJson, OrderJson, QuoteJson } from '../../src/rest/types.ts';
import { byName, type Rest } from '../rest.ts';
import { courierOf, fullName, type Screen } from '../screen.ts';

const quote = 'quotes/ca2139';

/** What each courier asks for one package, with the places that it goes between and the order that it is for. */
export const quoteComparison: Screen = {
  name: 'quote comparison',
  query: `
    query QuoteComparison($quote: ID!) {
      quote(id: $quote) {
        origin { administrativeArea locality }
        destination { administrativeArea locality }
        order { id recipient { fullName } }
        package { weightKg declaredValue { cents } }
        offers {
          courier { code }
          status
          shipmentCost { cents }
          returnShipmentCost { cents }
          estimatedDeliveryOperatingDays
        }
      }
    }
  `,
  variables: { quote },
  async byRest(rest) {
    const asked = await rest.record<QuoteJson>(quote);
    const [origin, destination, order] = await Promise.all([
      placeNamed(rest, asked.origin ?? ''),
      placeNamed(rest, asked.destination ?? ''),
      rest.record<OrderJson>(asked.order ?? ''),
    ]);
    return {
      quote: {
        origin,
        destination,
        order: { id: order.name, recipient: { fullName: fullName(order.recipient) } },
        package: {
          weightKg: asked.package?.weightKg,
          declaredValue: { cents: asked.package?.declaredValueCents },
        },
        offers: asked.offers.map((offer) => ({
          courier: courierOf(offer),
          status: offer.status,
          shipmentCost: { cents: offer.shipmentCostCents },
          returnShipmentCost: { cents: offer.returnShipmentCostCents },
          estimatedDeliveryOperatingDays: offer.estimatedDeliveryOperatingDays,
        })),
      },
    };
  },
};

async function placeNamed(rest: Rest, name: string) {
  const found = await rest.page<LocationJson>('/v1/locations', { query: name, pageSize: 1000 });
  const { administrativeArea, locality } = byName(found)(name).address;
  return { administrativeArea, locality };
}
