import type { Loaders } from '../loaders/loaders.ts';
import { InvalidResponseError } from '../rest/errors.ts';
import { isNameOf, type ResourceName } from '../rest/resource-name.ts';
import type {
  CreateQuoteJson,
  CreateShipmentJson,
  OfferJson,
  OrderJson,
  PackageJson,
  QuoteJson,
  RecipientJson,
  ShipmentJson,
} from '../rest/types.ts';
import { findCreatedShipment } from './adoption.ts';
import { ConflictError, NotFoundError } from './errors.ts';
import { chosen, type OfferWish, offersOf, whyNone } from './offer-choice.ts';

/** An order to ship, from where, in what package, and with which of the offers. */
export interface ShipOrder extends OfferWish {
  order: ResourceName<'orders'>;
  origin: ResourceName<'origins'>;
  package: PackageJson;
  requiresPickup: boolean;
}

/** What came of it: a shipment, or a quote in which no offer is as wished, and why. */
export type ShippedOrder =
  | { order: OrderJson; quote: QuoteJson; offer: OfferJson; shipment: ShipmentJson }
  | { quote: QuoteJson; whyNone: string };

/** The quote that a shipment may have been created from. */
export interface Progress {
  quote: QuoteJson;
}

type Keep = (progress: Progress) => Promise<void>;

interface Steps {
  loaders: Loaders;
  createQuote(quote: CreateQuoteJson): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson): Promise<ShipmentJson>;
}

/** The way from an order to its shipment: read the order and the origin, ask for a quote, choose an offer, ship. */
export function createShipOrder({ loaders, createQuote, createShipment }: Steps) {
  async function begin(wish: ShipOrder, keep: Keep): Promise<ShippedOrder> {
    const [order, origin] = await Promise.all([
      loaders.orderById.load(wish.order),
      loaders.originById.load(wish.origin),
    ]);
    if (order === null) throw new NotFoundError(wish.order);
    if (isShipped(order)) throw alreadyShipped(order);
    if (origin === null) throw new NotFoundError(wish.origin);
    const quote = await createQuote({
      origin: locationIn(origin, origin.name),
      destination: locationIn(order.recipient, `The recipient of ${order.name}`),
      package: wish.package,
      cashOnDeliveryRequestCents: order.cashOnDeliveryRequestCents,
      order: order.name,
    });
    await keep({ quote });
    return ship(wish, order, quote);
  }

  /** After an attempt of which the end is not known: a shipment that has come of it is taken for its own. */
  async function resume(wish: ShipOrder, progress: Progress | undefined, keep: Keep): Promise<ShippedOrder> {
    // A quote that got no answer binds nobody, so that another one may be asked for.
    if (progress === undefined) return begin(wish, keep);
    const { quote } = progress;
    const order = await loaders.orderById.load(wish.order);
    if (order === null) throw new NotFoundError(wish.order);
    const shipment = isShipped(order)
      ? await loaders.shipmentById.load(order.shipment)
      : await findCreatedShipment(loaders, quote.name);
    if (shipment?.quote === quote.name) return shipped(wish, order, quote, shipment);
    if (isShipped(order)) throw alreadyShipped(order);
    return ship(wish, order, quote);
  }

  async function ship(wish: ShipOrder, order: OrderJson, quote: QuoteJson): Promise<ShippedOrder> {
    const offers = offersOf(quote);
    const offer = chosen(offers, wish);
    if (offer === null) return { quote, whyNone: whyNone(offers, wish) };
    const shipment = await createShipment({
      quote: quote.name,
      courier: offer.courier,
      origin: wish.origin,
      recipient: shipmentRecipient(order.recipient),
      requiresPickup: wish.requiresPickup,
    });
    return { order: { ...order, shipment: shipment.name }, quote, offer, shipment };
  }

  return { begin, resume };
}

/** The outcome that an earlier attempt has come to: the offer is that of the courier who carries the shipment. */
function shipped(wish: ShipOrder, order: OrderJson, quote: QuoteJson, shipment: ShipmentJson): ShippedOrder {
  const offers = offersOf(quote);
  const offer = offers.find(({ courier }) => courier === shipment.courier) ?? chosen(offers, wish);
  if (offer === null)
    throw new InvalidResponseError(`${shipment.name} is of a courier that ${quote.name} has no offer of`);
  return { order: { ...order, shipment: shipment.name }, quote, offer, shipment };
}

function isShipped(order: OrderJson): order is OrderJson & { shipment: string } {
  return order.shipment !== undefined && order.shipment !== null && order.shipment !== '';
}

function alreadyShipped({ name, shipment }: OrderJson): ConflictError {
  return new ConflictError(`${name} is shipped already, as ${shipment}. Nothing was done.`);
}

/** @throws InvalidResponseError where REST left the location out. */
function locationIn({ location }: { location?: string }, what: string): string {
  if (isNameOf('locations', location)) return location;
  throw new InvalidResponseError(`${what} came without its location`);
}

/** The recipient as a shipment takes it: region, area and locality follow from the quote's destination. */
function shipmentRecipient(recipient: RecipientJson): CreateShipmentJson['recipient'] {
  const { firstName, lastName, email, phoneNumber, address, documentType, document } = recipient;
  const { addressLines, organization } = address;
  return {
    firstName,
    lastName,
    email,
    phoneNumber,
    address: { addressLines, organization },
    ...(documentType === undefined ? {} : { documentType }),
    ...(document === undefined ? {} : { document }),
  };
}
