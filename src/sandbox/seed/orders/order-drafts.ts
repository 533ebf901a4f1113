import { rateOffers } from '../../couriers/rates.ts';
import type {
  Location,
  Offer,
  Order,
  OrderStatus,
  Quote,
  Recipient,
  ShipmentStatus,
} from '../../interface/schemas.ts';
import { later, type Moment } from '../calendar.ts';
import { type Customer, recipientOf } from '../customers/customers.ts';
import type { MerchantProfile, ScriptedOrder } from '../merchants/merchant-profile.ts';
import type { Random } from '../random.ts';
import { type Fate, orderStatusOf, shipmentFate, unshippedFate } from './fates.ts';
import { orderMoments } from './order-moments.ts';
import { costlyCents, makePurchase, type Purchase } from './purchase.ts';

export interface QuoteDraft {
  created: Moment;
  request: Pick<Quote, 'origin' | 'destination' | 'package'> & { cashOnDeliveryRequestCents: number };
  offers: Offer[];
}

export interface ShipmentDraft {
  created: Moment;
  offer: Offer;
  requiresPickup: boolean;
  fate: Fate<ShipmentStatus>;
}

/** An order with what came of it, before quotes and shipments have their numbers. */
export interface OrderDraft {
  number: number;
  created: Moment;
  customer: Customer;
  recipient: Recipient;
  purchase: Purchase;
  notes: string;
  payment: 'ON_DELIVERY' | 'BEFOREHAND';
  paymentMethods: string[] | undefined;
  referenced: 'FULLY' | 'BY_HAND' | 'NOT';
  fulfiller: Order['fulfiller'];
  /** Index of the origin that it leaves from. */
  origin: number;
  quote: QuoteDraft | undefined;
  shipment: ShipmentDraft | undefined;
  fate: Fate<OrderStatus>;
}

const beforehand = [['CREDIT_CARD'], ['PSE'], ['NEQUI'], ['BANK_TRANSFER'], ['CREDIT_CARD', 'GIFT_CARD']];
const references = [
  ['FULLY', 65],
  ['BY_HAND', 8],
  ['NOT', 27],
] as const;

/** Makes up a merchant's orders, newest first, with their quotes and shipments. */
export function draftOrders(
  profile: MerchantProfile,
  customers: readonly Customer[],
  locations: ReadonlyMap<string, Location>,
  random: Random,
): OrderDraft[] {
  return orderMoments(profile.orders, random).map((created, index) => {
    const number = profile.orders.count - index;
    const script = profile.scripted[number] ?? {};
    // The first customers buy most, the last ones once or twice. A formula, as a weighted choice among all is slow.
    const chosen = Math.floor(customers.length * random.fraction() ** 1.8);
    const customer = customers[script.customer ?? chosen];
    if (!customer) throw new RangeError(`Order ${number} has no customer`);
    const request = draftRequest(profile, script, created, customer, random);
    const { quote, shipment } = draftDelivery(profile, script, request, locations, random);
    const fallback = unshippedFate(created, request.fulfiller, random);
    const fate: Fate<OrderStatus> = shipment
      ? { status: orderStatusOf(shipment.fate.status), updated: shipment.fate.updated }
      : fallback;
    return { number, ...request, quote, shipment, fate };
  });
}

type RequestDraft = Omit<OrderDraft, 'number' | 'quote' | 'shipment' | 'fate'>;

function draftRequest(
  profile: MerchantProfile,
  script: ScriptedOrder,
  created: Moment,
  customer: Customer,
  random: Random,
): RequestDraft {
  const purchase = makePurchase(profile, script, random);
  const paysOnDelivery = random.chance(0.58) && purchase.sellingPriceCents < costlyCents;
  const payment = script.payment ?? (paysOnDelivery ? 'ON_DELIVERY' : 'BEFOREHAND');
  const methods = payment === 'ON_DELIVERY' ? ['CASH_ON_DELIVERY'] : random.pick(beforehand);
  const referenced = random.weighted(references);
  return {
    created,
    customer,
    recipient: recipientOf(customer, random),
    purchase,
    notes: script.notes ?? random.pick(profile.notes),
    payment,
    paymentMethods: random.chance(0.75) || script.referenced ? methods : undefined,
    referenced: script.referenced ? 'FULLY' : referenced,
    fulfiller: random.chance(0.15) && script.shipment === undefined ? 'PARTNER' : 'OPERATOR',
    origin: script.origin ?? random.byShare(profile.origins),
  };
}

function draftDelivery(
  { origins }: MerchantProfile,
  script: ScriptedOrder,
  request: RequestDraft,
  locations: ReadonlyMap<string, Location>,
  random: Random,
): Pick<OrderDraft, 'quote' | 'shipment'> {
  const luck = random.fraction();
  const ships = script.shipment ? true : script.shipment === undefined && luck < shippedShare(request);
  const quoted = script.quoted ?? (ships || random.chance(request.fulfiller === 'OPERATOR' ? 0.4 : 0.05));
  if (!quoted) return { quote: undefined, shipment: undefined };

  const origin = known(locations, origins[request.origin]?.location);
  const destination = known(locations, request.recipient.location);
  const cashOnDeliveryRequestCents =
    request.payment === 'ON_DELIVERY' ? request.purchase.sellingPriceCents : 0;
  const parcel = request.purchase.package;
  const offers = rateOffers({ origin, destination, package: parcel, cashOnDeliveryRequestCents });
  const quote: QuoteDraft = {
    created: later(request.created, random.integer(2, 60)),
    request: {
      origin: origin.name,
      destination: destination.name,
      package: parcel,
      cashOnDeliveryRequestCents,
    },
    offers,
  };
  const offer = ships ? chooseOffer(offers, random) : undefined;
  if (!offer) return { quote, shipment: undefined };

  const created = later(quote.created, random.integer(2, 80));
  const terms = {
    estimatedDays: offer.estimatedDeliveryOperatingDays,
    returnRate: request.customer.returnRate,
    given: script.shipment ?? undefined,
  };
  const fate = shipmentFate(created, terms, random);
  return { quote, shipment: { created, offer, requiresPickup: random.chance(0.7), fate } };
}

function shippedShare({ created, fulfiller }: RequestDraft): number {
  if (created.daysOld <= 4) return created.daysOld === 0 ? 0.2 : 0.55;
  return fulfiller === 'OPERATOR' ? 0.9 : 0.35;
}

/** Mostly the cheapest, now and then the quickest, of those that carry the package. */
function chooseOffer(offers: readonly Offer[], random: Random): Offer | undefined {
  const quickest = random.chance(0.3);
  const worth = (offer: Offer) => (quickest ? offer.estimatedDeliveryOperatingDays : offer.shipmentCostCents);
  return offers
    .filter(({ status }) => status === 'SUCCESS')
    .sort((one, other) => worth(one) - worth(other))[0];
}

function known(locations: ReadonlyMap<string, Location>, name: string | undefined): Location {
  const location = locations.get(name ?? '');
  if (!location) throw new RangeError(`There is no location ${name}`);
  return location;
}
