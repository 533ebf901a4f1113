import type { Loaders } from '../loaders/loaders.ts';
import { InvalidResponseError, isConflict, OutcomeUnknownError } from '../rest/errors.ts';
import { isNameOf, type ResourceName } from '../rest/resource-name.ts';
import type {
  CreateQuoteJson,
  CreateShipmentJson,
  OfferJson,
  OrderJson,
  OriginJson,
  PackageJson,
  QuoteJson,
  RecipientJson,
  ShipmentJson,
} from '../rest/types.ts';
import { findCreatedShipment, lookedFor } from './adoption.ts';
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

/** What was known before the shipment was asked for, which may have been created since. */
export interface Progress {
  asked: CreateQuoteJson;
  quote: QuoteJson;
  offer: OfferJson;
}

type Keep = (progress: Progress) => Promise<void>;

interface Steps {
  loaders: Loaders;
  createQuote(quote: CreateQuoteJson): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson): Promise<ShipmentJson>;
}

/** An order that can be shipped, as far as its own fields tell. */
type ShippableOrder = OrderJson & { recipient: { location: string } };

/** The way from an order to its shipment: read the order and the origin, ask for a quote, choose an offer, ship. */
export function createShipOrder({ loaders, createQuote, createShipment }: Steps) {
  async function begin(wish: ShipOrder, keep: Keep): Promise<ShippedOrder> {
    // What is paid for starts where the origin is now, which an earlier request need not know.
    if (loaders.originPage.forgetEarlier()) loaders.originById.clearAll();
    const [order, origin] = await Promise.all([
      loaders.orderById.load(wish.order),
      loaders.originById.load(wish.origin),
    ]);
    if (order === null) throw new NotFoundError(wish.order);
    expectShippable(order);
    if (origin === null) throw new NotFoundError(wish.origin);
    const asked = {
      origin: locationOf(origin),
      destination: order.recipient.location,
      package: wish.package,
      cashOnDeliveryRequestCents: order.cashOnDeliveryRequestCents,
      order: order.name,
    };
    const quote = await createQuote(asked);
    const offers = offersOf(quote);
    const offer = chosen(offers, wish);
    if (offer === null) return { quote, whyNone: whyNone(offers, wish) };
    const progress = { asked, quote, offer };
    await keep(progress);
    return ship(wish, order, progress);
  }

  /** After an attempt of which the end is not known: a shipment that has come of it is taken for this one's own. */
  async function resume(wish: ShipOrder, progress: Progress | undefined, keep: Keep): Promise<ShippedOrder> {
    // A quote that got no answer binds nobody, so that another one may be asked for.
    if (progress === undefined) return begin(wish, keep);
    const { order, shipment } = await lookedFor(() => lookUp(wish, progress));
    if (shipment !== null) return shipped(order, progress, shipment);
    expectShippable(order);
    if (!isAsAsked(order, progress)) return begin(wish, keep);
    try {
      return await ship(wish, order, progress);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // The earlier attempt may have come to its end only after it was looked for.
      const late = await lookedFor(() => lookUp(wish, progress));
      if (late.shipment === null) throw error;
      return shipped(late.order, progress, late.shipment);
    }
  }

  async function ship(wish: ShipOrder, order: OrderJson, progress: Progress): Promise<ShippedOrder> {
    const shipment = await createShipment({
      quote: progress.quote.name,
      courier: progress.offer.courier,
      origin: wish.origin,
      recipient: shipmentRecipient(order.recipient),
      requiresPickup: wish.requiresPickup,
    });
    return shipped(order, progress, shipment);
  }

  /**
   * The order as it is now, and the shipment of the quote, or null where there is none.
   * @throws OutcomeUnknownError where what the order says of it can't be read.
   */
  async function lookUp(wish: ShipOrder, { quote }: Progress) {
    const order = await loaders.orderById.load(wish.order);
    if (order === null) throw new OutcomeUnknownError(`${wish.order} is gone, and may have been shipped`);
    if (!isNameOf('shipments', order.shipment)) {
      return { order, shipment: await findCreatedShipment(loaders, quote.name) };
    }
    const shipment = await loaders.shipmentById.load(order.shipment);
    if (shipment === null) throw new OutcomeUnknownError(`${order.shipment} of ${order.name} can't be found`);
    return { order, shipment: shipment.quote === quote.name ? shipment : null };
  }

  return { begin, resume };
}

function shipped(order: OrderJson, { quote, offer }: Progress, shipment: ShipmentJson): ShippedOrder {
  return { order: { ...order, shipment: shipment.name }, quote, offer, shipment };
}

/**
 * @throws ConflictError for an order that is shipped already, and InvalidResponseError where REST left out what its
 * quote and its shipment are made of: without an amount to collect, the courier would collect nothing.
 */
function expectShippable(order: OrderJson): asserts order is ShippableOrder {
  const { name, shipment, recipient, cashOnDeliveryRequestCents } = order;
  if (shipment !== undefined && shipment !== null && shipment !== '') {
    throw new ConflictError(
      `${name} is shipped already, as ${shipment}. Nothing was done. Look at the order's field "shipment".`,
    );
  }
  const without = (what: string) => new InvalidResponseError(`REST sent ${name} without ${what}`);
  if (!isNameOf('locations', recipient?.location)) throw without("its recipient's location");
  if (!Array.isArray(recipient.address?.addressLines)) throw without("its recipient's address");
  if (typeof cashOnDeliveryRequestCents !== 'number') throw without('its cash on delivery');
}

/** @throws InvalidResponseError where REST left it out. */
function locationOf({ name, location }: OriginJson): string {
  if (isNameOf('locations', location)) return location;
  throw new InvalidResponseError(`REST sent ${name} without its location`);
}

/** Whether the quote still is for this order, which can be changed meanwhile. */
function isAsAsked({ recipient, cashOnDeliveryRequestCents }: OrderJson, { asked }: Progress): boolean {
  return (
    recipient.location === asked.destination &&
    cashOnDeliveryRequestCents === asked.cashOnDeliveryRequestCents
  );
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
