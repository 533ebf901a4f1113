// The states of an order that is to be shipped. `progress` is stored under the idempotency key of this request, and
// `note` under the order's lock, which all keys of the merchant share. REST has no key for a POST, so each state after a
// POST without a response is resolved by a search for the shipment of its quote (earlier-attempt.ts).
//
// | known                                        | stored                                 | next                        |
// | -------------------------------------------- | -------------------------------------- | --------------------------- |
// | nobody has shipped the order                 | nothing                                | create a quote, choose      |
// | an offer is chosen                           | progress                               | note the POST               |
// | the POST is about to leave                   | progress, note `isSending`             | send the POST               |
// | REST has created the shipment                | progress, note with `shipment`         | store the result at the key |
// | REST has rejected the POST                   | progress, the note from before         | throw, the key is free      |
// | the POST has no response                     | progress, note without `shipment`      | throw OutcomeUnknownError   |
// | the POST was aborted, REST may be at work    | progress, note with `unsettledSinceMs` | the same                    |
//
// The next request for the order, with any key:
//
// | its key has progress | the search finds | next                                                                   |
// | -------------------- | ---------------- | ---------------------------------------------------------------------- |
// | yes                  | its shipment     | return the shipment                                                    |
// | yes                  | none             | POST the same quote, or a new one if the order has changed             |
// | no                   | any shipment     | throw ConflictError                                                    |
// | no                   | none             | create a quote: an earlier quote without a shipment has no effect      |

import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CreateQuoteJson, CreateShipmentJson } from '../rest/api-types.ts';
import { InvalidResponseError, isConflict } from '../rest/errors.ts';
import { readOffers } from '../rest/offers.ts';
import { isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type {
  OrderJson,
  OriginJson,
  PackageJson,
  QuoteJson,
  RecipientJson,
  ShipmentJson,
} from '../rest/wire-schema.ts';
import type { Digest } from './digest.ts';
import {
  notNamedYet,
  postNoted,
  type ShipmentLookup,
  type ShippingNote,
  type ShippingProgress,
} from './earlier-attempt.ts';
import { ConflictError, NotFoundError } from './errors.ts';
import { type Attempt, bothHeld, type Held, type Lock } from './idempotency.ts';
import { explainNoOffer, type OfferPreference, selectOffer } from './offer-selection.ts';
import { fromChosenOffer, type ShippedOrder, toChosenOffer } from './restored-records.ts';
import { writeAttemptNow } from './write-attempt.ts';

export interface ShipOrderRequest extends OfferPreference {
  order: ResourceName<'orders'>;
  origin: ResourceName<'origins'>;
  package: PackageJson;
  requiresPickup: boolean;
}

type OrderLock = Lock<ShippingNote>;
type ShippingAttempt = Attempt<ShippingProgress>;

/** The values that a request for shipping has if the client leaves them out. */
export const shipOrderDefaults = {
  offer: { prefer: 'CHEAPEST' },
  maxShipmentCostCents: null,
  requiresPickup: true,
} as const;

interface ShipOrderDependencies {
  api: RestApi;
  loaders: Loaders;
  digest: Digest;
  shipmentLookup: ShipmentLookup;
  withLock<Result>(resource: string, work: (lock: OrderLock) => Promise<Result>): Promise<Result>;
  createQuote(quote: CreateQuoteJson, held: Held): Promise<QuoteJson>;
  createShipment(shipment: CreateShipmentJson, held: Held): Promise<ShipmentJson>;
}

type ShippableOrder = OrderJson & { recipient: { location: string } };

/**
 * Creates the function that ships an order, one request at a time for each order.
 * @returns a function of the request, of the progress of an earlier attempt with the same key, and of this attempt.
 */
export function createShipOrder({
  api,
  loaders,
  digest,
  shipmentLookup,
  withLock,
  createQuote,
  createShipment,
}: ShipOrderDependencies) {
  function shipOrder(
    request: ShipOrderRequest,
    ownProgress: ShippingProgress | undefined,
    attempt: ShippingAttempt,
  ): Promise<ShippedOrder> {
    return withLock(request.order, (lock) => {
      // While this request waited for the lock, the order may have changed. A noted shipment does not change.
      if (lock.note?.shipment === undefined) loaders.orderById.clear(request.order);
      return ownProgress === undefined && lock.note === undefined
        ? startShipping(request, attempt, lock)
        : resumeShipping(request, ownProgress, attempt, lock);
    });
  }

  async function startShipping(
    request: ShipOrderRequest,
    attempt: ShippingAttempt,
    lock: OrderLock,
  ): Promise<ShippedOrder> {
    // A paid shipment must start at the current origin, so cached pages of origins are not used.
    if (loaders.originPage.forgetEarlier()) loaders.originById.clearAll();
    const [order, origin] = await Promise.all([
      loaders.orderById.load(request.order),
      loaders.originById.load(request.origin),
    ]);
    if (order === null) throw new NotFoundError(request.order, 'order');
    expectShippable(order);
    if (origin === null) throw new NotFoundError(request.origin, 'origin');
    const quoteRequest = {
      origin: locationOf(origin),
      destination: order.recipient.location,
      package: request.package,
      cashOnDeliveryRequestCents: order.cashOnDeliveryRequestCents,
      order: order.name,
    };
    const quote = await createQuote(quoteRequest, bothHeld(attempt, lock));
    const offers = readOffers(quote);
    const offer = selectOffer(offers, request);
    if (offer === null) return { quote, offers, noOffer: explainNoOffer(offers, request) };
    const terms = digest(termsOf(order));
    const progress = { quote: quote.name, offer: toChosenOffer(offer), terms, attempt: writeAttemptNow(api) };
    await attempt.checkpoint(progress);
    const shipment = await createOrderShipment(request, order, progress, bothHeld(attempt, lock), lock);
    return { order: shippedOrder(order, shipment), quote, offer, shipment };
  }

  /**
   * Ships an order after an earlier attempt whose outcome is unknown. Looks for the shipment of that attempt first.
   * @param ownProgress the progress of an attempt with the same key; undefined if the attempt had another key or
   * none.
   */
  async function resumeShipping(
    request: ShipOrderRequest,
    ownProgress: ShippingProgress | undefined,
    attempt: ShippingAttempt,
    lock: OrderLock,
  ): Promise<ShippedOrder> {
    const { order, shipment } = await shipmentLookup.find(request.order, ownProgress, lock);
    if (shipment !== null) return useExistingShipment(order, shipment, ownProgress, lock);
    // A quote without a response has no effect, so another quote is safe.
    if (ownProgress === undefined) return startShipping(request, attempt, lock);
    expectShippable(order);
    // The order may have changed since the quote was created.
    if (digest(termsOf(order)) !== ownProgress.terms) return startShipping(request, attempt, lock);
    try {
      const created = await createOrderShipment(request, order, ownProgress, bothHeld(attempt, lock), lock);
      return resumedShipping(order, ownProgress, created);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // REST may have finished the earlier attempt after the search.
      const found = await shipmentLookup.find(request.order, ownProgress, lock);
      if (found.shipment === null) throw error;
      return useExistingShipment(found.order, found.shipment, ownProgress, lock);
    }
  }

  /** Sends `POST /v1/shipments`, and notes the attempt and its result at the order's lock. */
  async function createOrderShipment(
    request: ShipOrderRequest,
    order: OrderJson,
    { quote, offer, attempt }: ShippingProgress,
    held: Held,
    lock: OrderLock,
  ): Promise<ShipmentJson> {
    return postNoted(lock, quote, attempt, writeAttemptNow(api), () =>
      createShipment(
        {
          quote,
          courier: offer.courier,
          origin: request.origin,
          recipient: shipmentRecipient(order.recipient),
          requiresPickup: request.requiresPickup,
        },
        held,
      ),
    );
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
    if (ownProgress !== undefined && shipment.quote === ownProgress.quote)
      return resumedShipping(order, ownProgress, shipment);
    throw notNamedYet(order.name, shipment.name);
  }

  return shipOrder;
}

function shippedOrder(order: OrderJson, { name }: ShipmentJson): OrderJson {
  return { ...order, shipment: name };
}

/** The result of a shipment whose quote was created by an earlier attempt. */
function resumedShipping(
  order: OrderJson,
  { quote, offer }: ShippingProgress,
  shipment: ShipmentJson,
): ShippedOrder {
  return {
    order: shippedOrder(order, shipment),
    quote: { name: quote },
    offer: fromChosenOffer(offer),
    shipment,
  };
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
      `${name} is already shipped as ${shipment}. Nothing was shipped. Look at the order's field "shipment".`,
      'ALREADY_SHIPPED',
      shipment,
    );
  }
  if (finishedStatuses.includes(status)) {
    throw new ConflictError(
      `${name} is ${status} and can't be shipped. Nothing was shipped.`,
      'ORDER_FINISHED',
    );
  }
  const missing = (field: string) => new InvalidResponseError(`REST sent ${name} without ${field}`);
  if (!isResourceName('locations', recipient?.location)) throw missing("its recipient's location");
  if (!Array.isArray(recipient.address?.addressLines)) throw missing("its recipient's address");
  if (typeof cashOnDeliveryRequestCents !== 'number') throw missing('its cash on delivery');
}

function locationOf({ name, location }: OriginJson): string {
  if (isResourceName('locations', location)) return location;
  throw new InvalidResponseError(`REST sent ${name} without its location`);
}

function termsOf({ recipient, cashOnDeliveryRequestCents }: OrderJson): object {
  return { destination: recipient.location, cashOnDeliveryRequestCents };
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
