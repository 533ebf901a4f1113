// Called by writes.ts. Ships an order: reads order and origin, creates a quote, selects an offer, creates a shipment.
// After an attempt without a known outcome it asks earlier-attempt.ts first.

import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CreateQuoteJson, CreateShipmentJson } from '../rest/api-types.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { InvalidResponseError, isConflict, mayHaveHappened } from '../rest/errors.ts';
import { isNameOf, type ResourceName } from '../rest/resource-name.ts';
import type {
  OfferJson,
  OrderJson,
  OriginJson,
  PackageJson,
  QuoteJson,
  RecipientJson,
  ShipmentJson,
} from '../rest/wire-schema.ts';
import { attemptNow } from './attempt-start.ts';
import {
  createEarlierShipping,
  notNamedYet,
  type ShippingNote,
  type ShippingProgress,
  wasAborted,
} from './earlier-attempt.ts';
import { ConflictError, NotFoundError } from './errors.ts';
import type { Idempotency, Lock } from './idempotency.ts';
import { noOfferReason, type OfferPreference, offersOf, selectOffer } from './offer-selection.ts';

/** Which order to ship, from which origin, in which package, and with which offer. */
export interface ShipOrderRequest extends OfferPreference {
  order: ResourceName<'orders'>;
  origin: ResourceName<'origins'>;
  package: PackageJson;
  requiresPickup: boolean;
}

/** The shipment, or the quote of which no offer matches the preference, with the reason. */
export type ShippedOrder =
  | { order: OrderJson; quote: QuoteJson; offer: OfferJson; shipment: ShipmentJson }
  | { quote: QuoteJson; noOfferReason: string };

type Checkpoint = (progress: ShippingProgress) => Promise<void>;
type OrderLock = Lock<ShippingNote>;

interface ShipOrderDependencies {
  api: RestApi;
  callContext: CallContext;
  loaders: Loaders;
  withLock: Idempotency['withLock'];
  createQuote(quote: CreateQuoteJson): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson): Promise<ShipmentJson>;
}

/** An order that has the fields that its quote and its shipment need. */
type ShippableOrder = OrderJson & { recipient: { location: string } };

/**
 * Creates the function that ships an order: it reads the order and the origin, creates a quote, selects an offer, and
 * creates the shipment. A lock lets one request at a time do so for an order. The note of the lock describes
 * the last attempt.
 * @returns a function of the request, of the progress of an earlier attempt with the same key, and of `checkpoint`.
 */
export function createShipOrder({
  api,
  callContext,
  loaders,
  withLock,
  createQuote,
  createShipment,
}: ShipOrderDependencies) {
  const earlierShipping = createEarlierShipping({ api, callContext, loaders });

  function shipOrder(
    request: ShipOrderRequest,
    ownProgress: ShippingProgress | undefined,
    checkpoint: Checkpoint,
  ): Promise<ShippedOrder> {
    return withLock<ShippingNote, ShippedOrder>(request.order, callContext.tenant, (lock) => {
      // While this request waited for the lock, the order may have changed. A noted shipment does not change.
      if (lock.note?.shipment === undefined) loaders.orderById.clear(request.order);
      return ownProgress === undefined && lock.note === undefined
        ? startShipping(request, checkpoint, lock)
        : resumeShipping(request, ownProgress, checkpoint, lock);
    });
  }

  /** Ships an order that no earlier attempt has shipped. */
  async function startShipping(
    request: ShipOrderRequest,
    checkpoint: Checkpoint,
    lock: OrderLock,
  ): Promise<ShippedOrder> {
    // A paid shipment must start at the current origin, so cached pages of origins are not used.
    if (loaders.originPage.forgetEarlier()) loaders.originById.clearAll();
    const [order, origin] = await Promise.all([
      loaders.orderById.load(request.order),
      loaders.originById.load(request.origin),
    ]);
    if (order === null) throw new NotFoundError(request.order);
    expectShippable(order);
    if (origin === null) throw new NotFoundError(request.origin);
    const quoteRequest = {
      origin: locationOf(origin),
      destination: order.recipient.location,
      package: request.package,
      cashOnDeliveryRequestCents: order.cashOnDeliveryRequestCents,
      order: order.name,
    };
    const quote = await createQuote(quoteRequest);
    const offers = offersOf(quote);
    const offer = selectOffer(offers, request);
    if (offer === null) return { quote, noOfferReason: noOfferReason(offers, request) };
    const progress = { quoteRequest, quote, offer, attempt: attemptNow(api) };
    await checkpoint(progress);
    return createOrderShipment(request, order, progress, lock);
  }

  /**
   * Ships an order after an earlier attempt whose outcome is unknown. Looks for the shipment of that attempt first.
   * @param ownProgress the progress of an attempt with the same key; undefined if the attempt had another key or
   * none.
   */
  async function resumeShipping(
    request: ShipOrderRequest,
    ownProgress: ShippingProgress | undefined,
    checkpoint: Checkpoint,
    lock: OrderLock,
  ): Promise<ShippedOrder> {
    const { order, shipment } = await earlierShipping.find(request.order, ownProgress, lock.note);
    if (shipment !== null) return useExistingShipment(order, shipment, ownProgress, lock);
    // A quote without a response has no effect, so another quote is safe.
    if (ownProgress === undefined) return startShipping(request, checkpoint, lock);
    expectShippable(order);
    if (!matchesQuoteRequest(order, ownProgress)) return startShipping(request, checkpoint, lock);
    try {
      return await createOrderShipment(request, order, ownProgress, lock);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // REST may have finished the earlier attempt after the search.
      const found = await earlierShipping.find(request.order, ownProgress, lock.note);
      if (found.shipment === null) throw error;
      return useExistingShipment(found.order, found.shipment, ownProgress, lock);
    }
  }

  /** Sends `POST /v1/shipments`, and notes the attempt and its result at the order's lock. */
  async function createOrderShipment(
    request: ShipOrderRequest,
    order: OrderJson,
    progress: ShippingProgress,
    lock: OrderLock,
  ): Promise<ShippedOrder> {
    const { quote, offer, attempt } = progress;
    const previousNote = lock.note;
    const note = { quote: quote.name, attempt };
    await lock.checkpoint({ ...note, unsettledSinceMs: Date.now() });
    try {
      const shipment = await createShipment({
        quote: quote.name,
        courier: offer.courier,
        origin: request.origin,
        recipient: shipmentRecipient(order.recipient),
        requiresPickup: request.requiresPickup,
      });
      // The order is shipped, even if the note cannot be stored.
      await lock.tryCheckpoint({ ...note, shipment: shipment.name });
      return shippedOrder(order, progress, shipment);
    } catch (error) {
      // This failure does not undo an earlier attempt, which may have succeeded, so the earlier note is restored.
      if (!mayHaveHappened(error)) await lock.tryCheckpoint(previousNote);
      else await lock.tryCheckpoint(wasAborted(error) ? { ...note, unsettledSinceMs: Date.now() } : note);
      throw error;
    }
  }

  /**
   * Returns the shipment that an earlier attempt with the same key created.
   * @throws ConflictError if another key created the shipment.
   */
  async function useExistingShipment(
    order: OrderJson,
    shipment: ShipmentJson,
    ownProgress: ShippingProgress | undefined,
    lock: OrderLock,
  ): Promise<ShippedOrder> {
    if (lock.note !== undefined) await lock.tryCheckpoint({ ...lock.note, shipment: shipment.name });
    if (ownProgress !== undefined && shipment.quote === ownProgress.quote.name)
      return shippedOrder(order, ownProgress, shipment);
    throw notNamedYet(order.name, shipment.name);
  }

  return shipOrder;
}

function shippedOrder(
  order: OrderJson,
  { quote, offer }: ShippingProgress,
  shipment: ShipmentJson,
): ShippedOrder {
  return { order: { ...order, shipment: shipment.name }, quote, offer, shipment };
}

/** An order of these statuses cannot be shipped, or shipped again ("Order status"). */
const finishedStatuses: readonly string[] = ['CANCELLED', 'DELIVERED', 'RETURN'];

/**
 * @throws ConflictError if the order is shipped already or finished, and InvalidResponseError if REST omitted a field
 * that the quote or the shipment needs. Without the amount of cash on delivery, the courier would collect nothing.
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
  const missing = (field: string) => new InvalidResponseError(`REST sent ${name} without ${field}`);
  if (!isNameOf('locations', recipient?.location)) throw missing("its recipient's location");
  if (!Array.isArray(recipient.address?.addressLines)) throw missing("its recipient's address");
  if (typeof cashOnDeliveryRequestCents !== 'number') throw missing('its cash on delivery');
}

/** Returns the location of an origin. @throws InvalidResponseError if REST omitted the location. */
function locationOf({ name, location }: OriginJson): string {
  if (isNameOf('locations', location)) return location;
  throw new InvalidResponseError(`REST sent ${name} without its location`);
}

/** Returns whether the quote still fits the order, which may have changed since the quote was created. */
function matchesQuoteRequest(
  { recipient, cashOnDeliveryRequestCents }: OrderJson,
  { quoteRequest }: ShippingProgress,
): boolean {
  return (
    recipient.location === quoteRequest.destination &&
    cashOnDeliveryRequestCents === quoteRequest.cashOnDeliveryRequestCents
  );
}

/**
 * Returns the recipient for Create Shipment ("Shipment"). The quote's destination implies region, area and locality.
 */
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
