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
import { type Customer, toRecipient } from '../customers/customers.ts';
import type { MerchantProfile, ScriptedOrder } from '../merchants/merchant-profile.ts';
import type { Random } from '../random.ts';
import { orderMoments } from './order-moments.ts';
import { createPurchase, expensiveCents, type Purchase } from './purchase.ts';
import {
  generateShipmentStatus,
  generateUnshippedOrderStatus,
  type StatusSince,
  toOrderStatus,
} from './status-generator.ts';

/** A generated quote without its name. */
export interface QuoteDraft {
  created: Moment;
  request: Pick<Quote, 'origin' | 'destination' | 'package'> & { cashOnDeliveryRequestCents: number };
  offers: Offer[];
}

/** A generated shipment without its name. */
export interface ShipmentDraft {
  created: Moment;
  offer: Offer;
  requiresPickup: boolean;
  statusSince: StatusSince<ShipmentStatus>;
}

/** A generated order with its quote and shipment, before quotes and shipments have numbers. */
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
  /** The index of the origin. */
  origin: number;
  quote: QuoteDraft | undefined;
  shipment: ShipmentDraft | undefined;
  statusSince: StatusSince<OrderStatus>;
}

const prepaidMethods = [['CREDIT_CARD'], ['PSE'], ['NEQUI'], ['BANK_TRANSFER'], ['CREDIT_CARD', 'GIFT_CARD']];
const references = [
  ['FULLY', 65],
  ['BY_HAND', 8],
  ['NOT', 27],
] as const;

/** Generates a merchant's orders, newest first, with their quotes and shipments. */
export function draftOrders(
  profile: MerchantProfile,
  customers: readonly Customer[],
  locations: ReadonlyMap<string, Location>,
  random: Random,
): OrderDraft[] {
  return orderMoments(profile.orders, random).map((created, index) => {
    const number = profile.orders.count - index;
    const script = profile.scripted[number] ?? {};
    // The first customers order most, the last ones once or twice. A weighted choice would be slower.
    const randomCustomerIndex = Math.floor(customers.length * random.fraction() ** 1.8);
    const customer = customers[script.customer ?? randomCustomerIndex];
    if (!customer) throw new RangeError(`Order ${number} has no customer`);
    const request = draftRequest(profile, script, created, customer, random);
    const { quote, shipment } = draftDelivery(profile, script, request, locations, random);
    const unshippedStatus = generateUnshippedOrderStatus(created, request.fulfiller, random);
    const statusSince: StatusSince<OrderStatus> = shipment
      ? { status: toOrderStatus(shipment.statusSince.status), updated: shipment.statusSince.updated }
      : unshippedStatus;
    return { number, ...request, quote, shipment, statusSince };
  });
}

type RequestDraft = Omit<OrderDraft, 'number' | 'quote' | 'shipment' | 'statusSince'>;

function draftRequest(
  profile: MerchantProfile,
  script: ScriptedOrder,
  created: Moment,
  customer: Customer,
  random: Random,
): RequestDraft {
  const purchase = createPurchase(profile, script, random);
  const paysOnDelivery = random.chance(0.58) && purchase.sellingPriceCents < expensiveCents;
  const payment = script.payment ?? (paysOnDelivery ? 'ON_DELIVERY' : 'BEFOREHAND');
  const methods = payment === 'ON_DELIVERY' ? ['CASH_ON_DELIVERY'] : random.pick(prepaidMethods);
  const referenced = random.weighted(references);
  return {
    created,
    customer,
    recipient: toRecipient(customer, random),
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
  const shippingChance = random.fraction();
  const ships =
    script.shipment === undefined ? shippingChance < shippedShare(request) : script.shipment !== null;
  const quoted = script.quoted ?? (ships || random.chance(request.fulfiller === 'OPERATOR' ? 0.4 : 0.05));
  if (!quoted) return { quote: undefined, shipment: undefined };

  const origin = locationByName(locations, origins[request.origin]?.location);
  const destination = locationByName(locations, request.recipient.location);
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
    scripted: script.shipment ?? undefined,
  };
  const statusSince = generateShipmentStatus(created, terms, random);
  return { quote, shipment: { created, offer, requiresPickup: random.chance(0.7), statusSince } };
}

function shippedShare({ created, fulfiller }: RequestDraft): number {
  if (created.daysOld <= 4) return created.daysOld === 0 ? 0.2 : 0.55;
  return fulfiller === 'OPERATOR' ? 0.9 : 0.35;
}

/** Chooses an available offer: usually the cheapest, in 30 % of the cases the fastest. */
function chooseOffer(offers: readonly Offer[], random: Random): Offer | undefined {
  const prefersFastest = random.chance(0.3);
  const sortKey = (offer: Offer) =>
    prefersFastest ? offer.estimatedDeliveryOperatingDays : offer.shipmentCostCents;
  return offers.filter(({ status }) => status === 'SUCCESS').sort((a, b) => sortKey(a) - sortKey(b))[0];
}

function locationByName(locations: ReadonlyMap<string, Location>, name: string | undefined): Location {
  const location = locations.get(name ?? '');
  if (!location) throw new RangeError(`There is no location ${name}`);
  return location;
}
