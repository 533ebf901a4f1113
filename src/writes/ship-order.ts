import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { InvalidResponseError, isConflict, mayHaveHappened } from '../rest/errors.ts';
import { isNameOf, type ResourceName } from '../rest/resource-name.ts';
import type { CreateQuoteJson, CreateShipmentJson } from '../rest/types.ts';
import type {
  OfferJson,
  OrderJson,
  OriginJson,
  PackageJson,
  QuoteJson,
  RecipientJson,
  ShipmentJson,
} from '../rest/wire-schema.ts';
import { attemptNow } from './attempt.ts';
import {
  createEarlierShipping,
  notNamedYet,
  type Progress,
  type ShippingNote,
  wasAborted,
} from './earlier-shipping.ts';
import { ConflictError, NotFoundError } from './errors.ts';
import type { Held, Idempotency } from './idempotency.ts';
import { noOfferReason, type OfferPreference, offersOf, selectOffer } from './offer-selection.ts';

/** An order to ship, from where, in what package, and with which of the offers. */
export interface ShipOrder extends OfferPreference {
  order: ResourceName<'orders'>;
  origin: ResourceName<'origins'>;
  package: PackageJson;
  requiresPickup: boolean;
}

/** What came of it: a shipment, or a quote in which no offer is as wished, and why. */
export type ShippedOrder =
  | { order: OrderJson; quote: QuoteJson; offer: OfferJson; shipment: ShipmentJson }
  | { quote: QuoteJson; noOfferReason: string };

type Checkpoint = (progress: Progress) => Promise<void>;
type HeldOrder = Held<ShippingNote>;

interface Steps {
  api: RestApi;
  callContext: CallContext;
  loaders: Loaders;
  hold: Idempotency['hold'];
  createQuote(quote: CreateQuoteJson): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson): Promise<ShipmentJson>;
}

/** An order that can be shipped, as far as its own fields tell. */
type ShippableOrder = OrderJson & { recipient: { location: string } };

/**
 * The way from an order to its shipment: read the order and the origin, ask for a quote, choose an offer, ship. One request at
 * a time does that for an order; the next one goes by what the one before has noted.
 * @returns a function of the wish, of how far an attempt with the same key has come, and of what remembers that.
 */
export function createShipOrder({ api, callContext, loaders, hold, createQuote, createShipment }: Steps) {
  const earlier = createEarlierShipping({ api, callContext, loaders });

  function shipOrder(
    preference: ShipOrder,
    own: Progress | undefined,
    checkpoint: Checkpoint,
  ): Promise<ShippedOrder> {
    return hold<ShippingNote, ShippedOrder>(preference.order, callContext.tenant, (held) => {
      // What the same operation has read before may be out of date by now. A note of its shipment is not.
      if (held.note?.shipment === undefined) loaders.orderById.clear(preference.order);
      return own === undefined && held.note === undefined
        ? begin(preference, checkpoint, held)
        : resume(preference, own, checkpoint, held);
    });
  }

  async function begin(
    preference: ShipOrder,
    checkpoint: Checkpoint,
    held: HeldOrder,
  ): Promise<ShippedOrder> {
    // What is paid for starts where the origin is now, which an earlier request need not know.
    if (loaders.originPage.forgetEarlier()) loaders.originById.clearAll();
    const [order, origin] = await Promise.all([
      loaders.orderById.load(preference.order),
      loaders.originById.load(preference.origin),
    ]);
    if (order === null) throw new NotFoundError(preference.order);
    expectShippable(order);
    if (origin === null) throw new NotFoundError(preference.origin);
    const asked = {
      origin: locationOf(origin),
      destination: order.recipient.location,
      package: preference.package,
      cashOnDeliveryRequestCents: order.cashOnDeliveryRequestCents,
      order: order.name,
    };
    const quote = await createQuote(asked);
    const offers = offersOf(quote);
    const offer = selectOffer(offers, preference);
    if (offer === null) return { quote, noOfferReason: noOfferReason(offers, preference) };
    const progress = { asked, quote, offer, attempt: attemptNow(api) };
    await checkpoint(progress);
    return ship(preference, order, progress, held);
  }

  /** After an attempt of which the end is not known, with the same key (`own`) or another: looks for what has come of it. */
  async function resume(
    preference: ShipOrder,
    own: Progress | undefined,
    checkpoint: Checkpoint,
    held: HeldOrder,
  ): Promise<ShippedOrder> {
    const { order, shipment } = await earlier.find(preference.order, own, held.note);
    if (shipment !== null) return taken(order, shipment, own, held);
    // A quote that got no answer binds nobody, so that another one may be asked for.
    if (own === undefined) return begin(preference, checkpoint, held);
    expectShippable(order);
    if (!isAsAsked(order, own)) return begin(preference, checkpoint, held);
    try {
      return await ship(preference, order, own, held);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // The earlier attempt may have come to its end only after it was looked for.
      const late = await earlier.find(preference.order, own, held.note);
      if (late.shipment === null) throw error;
      return taken(late.order, late.shipment, own, held);
    }
  }

  async function ship(
    preference: ShipOrder,
    order: OrderJson,
    progress: Progress,
    held: HeldOrder,
  ): Promise<ShippedOrder> {
    const { quote, offer, attempt } = progress;
    const before = held.note;
    const note = { quote: quote.name, attempt };
    await held.checkpoint({ ...note, unsettledSinceMs: Date.now() });
    try {
      const shipment = await createShipment({
        quote: quote.name,
        courier: offer.courier,
        origin: preference.origin,
        recipient: shipmentRecipient(order.recipient),
        requiresPickup: preference.requiresPickup,
      });
      // It is shipped, whatever becomes of the note.
      await held.tryCheckpoint({ ...note, shipment: shipment.name });
      return shipped(order, progress, shipment);
    } catch (error) {
      // What an earlier attempt may have done is not undone by the failure of this one.
      if (!mayHaveHappened(error)) await held.tryCheckpoint(before);
      else await held.tryCheckpoint(wasAborted(error) ? { ...note, unsettledSinceMs: Date.now() } : note);
      throw error;
    }
  }

  /** A shipment that an earlier attempt has created: the success of the same key, and a conflict for all others. */
  async function taken(
    order: OrderJson,
    shipment: ShipmentJson,
    own: Progress | undefined,
    held: HeldOrder,
  ): Promise<ShippedOrder> {
    if (held.note !== undefined) await held.tryCheckpoint({ ...held.note, shipment: shipment.name });
    if (own !== undefined && shipment.quote === own.quote.name) return shipped(order, own, shipment);
    throw notNamedYet(order.name, shipment.name);
  }

  return shipOrder;
}

function shipped(order: OrderJson, { quote, offer }: Progress, shipment: ShipmentJson): ShippedOrder {
  return { order: { ...order, shipment: shipment.name }, quote, offer, shipment };
}

/** No order that is as far as this is shipped, or shipped again ("Order status"). */
const finishedStatuses: readonly string[] = ['CANCELLED', 'DELIVERED', 'RETURN'];

/**
 * @throws ConflictError for an order that is shipped already, or finished, and InvalidResponseError where REST left out what its
 * quote and its shipment are made of: without an amount to collect, the courier would collect nothing.
 */
function expectShippable(order: OrderJson): asserts order is ShippableOrder {
  const { name, shipment, status, recipient, cashOnDeliveryRequestCents } = order;
  if (shipment !== undefined && shipment !== null && shipment !== '') {
    throw new ConflictError(
      `${name} is shipped already, as ${shipment}. Nothing was done. Look at the order's field "shipment".`,
    );
  }
  if (finishedStatuses.includes(status)) {
    throw new ConflictError(`${name} is ${status} and can't be shipped. Nothing was done.`);
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
