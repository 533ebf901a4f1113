// The states of an order that is to be shipped. `progress` is stored under the idempotency key of this request, and
// `note` under the order's lock, which all keys of the merchant share. REST has no key for a POST, so each state after a
// POST without a response is resolved by a search for the shipment of its quote (earlier-attempt.ts).
//
// | known                                        | stored                                 | next                        |
// | -------------------------------------------- | -------------------------------------- | --------------------------- |
// | nobody has shipped the order                 | nothing                                | create a quote, choose      |
// | no offer fits                                | nothing                                | store the offers at the key |
// | an offer is chosen                           | progress                               | note the POST               |
// | the POST is about to leave                   | progress, note `isSending`             | send the POST               |
// | REST has created the shipment                | progress, note with `shipment`         | store the result at the key |
// | REST has rejected the POST                   | progress, the note from before         | throw; a new key is free    |
// | the POST has no response                     | progress, note without `shipment`      | throw OutcomeUnknownError   |
// | the POST was aborted, REST may be at work    | progress, note with `unsettledSinceMs` | the same                    |
//
// The next request for the order, with any key, waits while a note with `isSending` or `unsettledSinceMs` says that REST
// may be at work. Then:
//
// | its key has progress | the search finds    | next                                                                |
// | -------------------- | ------------------- | ------------------------------------------------------------------- |
// | yes                  | its shipment        | return the shipment                                                 |
// | yes                  | none                | POST the same quote, or a new one if the order has changed          |
// | no                   | none                | create a quote: an earlier quote without a shipment has no effect   |
// | yes or no            | another shipment    | throw ConflictError                                                 |

import { monotonicMs } from '../base/monotonic-ms.ts';
import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CreateQuoteJson, CreateShipmentJson } from '../rest/api-types.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import {
  ForeignRecordError,
  InvalidResponseError,
  isConflict,
  mayHaveHappened,
  OutcomeUnknownError,
  UnexpectedNameError,
} from '../rest/errors.ts';
import { readOffers } from '../rest/offers.ts';
import { isSameName } from '../rest/repeated-names.ts';
import { isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type {
  OrderJson,
  OriginJson,
  PackageJson,
  QuoteJson,
  RecipientJson,
  ShipmentJson,
} from '../rest/wire-schema.ts';
import {
  alreadyShipped,
  createShipmentLookup,
  type ShippingLock,
  type ShippingProgress,
  wasAborted,
} from './earlier-attempt.ts';
import { ConflictError, NotFoundError } from './errors.ts';
import type { Attempt, Held, Idempotency } from './idempotency.ts';
import { invalidateAfterShipmentCreation } from './invalidation.ts';
import { explainNoOffer, type OfferPreference, selectOffer } from './offer-selection.ts';
import { earliestCreation } from './recovery.ts';
import { type ShippedOrder, toStoredOffer } from './restored-records.ts';

export interface ShipOrderRequest extends OfferPreference {
  order: ResourceName<'orders'>;
  origin: ResourceName<'origins'>;
  package: PackageJson;
  requiresPickup: boolean;
}

type ShippingAttempt = Attempt<ShippingProgress>;

/** The values that a request for shipping has if the client leaves them out. */
export const shipOrderDefaults = {
  offer: { prefer: 'CHEAPEST' },
  maxShipmentCostCents: null,
  requiresPickup: true,
} as const;

/** The workflows that pay for a shipment. One of them at a time holds an order, or a quote without an order. */
export function createShippingWorkflow(
  api: RestApi,
  callContext: CallContext,
  loaders: Loaders,
  idempotency: Idempotency,
) {
  const { digest, processingMs } = idempotency;
  const shipmentLookup = createShipmentLookup(api, callContext, loaders, processingMs);
  const writeContext = callContext.untilDeadline();

  async function createQuote(quote: CreateQuoteJson, { expectHeld }: Held): Promise<QuoteJson> {
    const created = await api.createQuote(quote, callContext.untilDeadline(expectHeld));
    loaders.quoteById.replace(created.name, created);
    return created;
  }

  async function createShipment(shipment: CreateShipmentJson, { expectHeld }: Held): Promise<ShipmentJson> {
    const created = await api
      .createShipment(shipment, callContext.untilDeadline(expectHeld))
      .finally(() => invalidateAfterShipmentCreation(loaders));
    loaders.shipmentById.replace(created.name, created);
    return created;
  }

  /** Sends `POST /v1/shipments`, and notes the attempt and its result at a lock. */
  async function postNoted(shipment: CreateShipmentJson, earliestMs: number | undefined, lock: ShippingLock) {
    const previousNote = lock.note;
    const note = { quote: shipment.quote, earliestMs, postedAtMs: api.serviceTime() };
    await lock.checkpoint({ ...note, isSending: true });
    try {
      const created = await createShipment(shipment, lock);
      // The quote is accepted, even if the note cannot be stored.
      await lock.tryCheckpoint({ ...note, shipment: created.name });
      return created;
    } catch (error) {
      // This failure does not undo an earlier attempt, which may have succeeded, so the earlier note is restored.
      if (!mayHaveHappened(error)) await lock.tryCheckpoint(previousNote);
      else await lock.tryCheckpoint(wasAborted(error) ? { ...note, unsettledSinceMs: monotonicMs() } : note);
      throw error;
    }
  }

  async function startShipping(
    request: ShipOrderRequest,
    attempt: ShippingAttempt,
    lock: ShippingLock,
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
    const quote = await createQuote(quoteRequest, lock).catch(throwNothingShipped);
    const offers = readOffers(quote);
    const offer = selectOffer(offers, request);
    if (offer === null) return { quote, offers, noOffer: explainNoOffer(offers, request) };
    const progress = {
      quote: quote.name,
      offer: toStoredOffer(offer),
      terms: digest(termsOf(order)),
      earliestMs: earliestCreation(api),
    };
    await attempt.checkpoint(progress);
    const shipment = await createOrderShipment(request, order, progress, lock);
    return { order: { ...order, shipment: shipment.name }, quote, offer, shipment };
  }

  /** Ships an order after an earlier attempt whose outcome is unknown. Looks for the shipment of that attempt first. */
  async function resumeShipping(
    request: ShipOrderRequest,
    ownProgress: ShippingProgress | undefined,
    attempt: ShippingAttempt,
    lock: ShippingLock,
  ): Promise<ShippedOrder> {
    const { order, shipment } = await shipmentLookup.find(request.order, ownProgress, lock);
    if (shipment !== null) return useExistingShipment(order, shipment, ownProgress, lock);
    // A quote without a response has no effect, so another quote is safe.
    if (ownProgress === undefined) return startShipping(request, attempt, lock);
    expectShippable(order);
    // The order may have changed since the quote was created.
    if (digest(termsOf(order)) !== ownProgress.terms) return startShipping(request, attempt, lock);
    try {
      const created = await createOrderShipment(request, order, ownProgress, lock);
      return resumedShipping(order, ownProgress, created);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // REST may have finished the earlier attempt after the search.
      const found = await shipmentLookup.find(request.order, ownProgress, lock);
      if (found.shipment === null) throw error;
      return useExistingShipment(found.order, found.shipment, ownProgress, lock);
    }
  }

  function createOrderShipment(
    { origin, requiresPickup }: ShipOrderRequest,
    order: OrderJson,
    { quote, offer: { courier }, earliestMs }: ShippingProgress,
    lock: ShippingLock,
  ): Promise<ShipmentJson> {
    const recipient = shipmentRecipient(order.recipient);
    return postNoted({ quote, courier, origin, recipient, requiresPickup }, earliestMs, lock);
  }

  async function useExistingShipment(
    order: OrderJson,
    shipment: ShipmentJson,
    ownProgress: ShippingProgress | undefined,
    lock: ShippingLock,
  ): Promise<ShippedOrder> {
    if (lock.note !== undefined) await lock.tryCheckpoint({ ...lock.note, shipment: shipment.name });
    if (ownProgress !== undefined && isSameName('quotes', shipment.quote, ownProgress.quote))
      return resumedShipping(order, ownProgress, shipment);
    throw alreadyShipped(order.name, shipment.name, false);
  }

  /** The name of an order's shipment, even if REST would ship the order again. */
  async function earlierShipmentOf(name: ResourceName<'orders'>, lock: ShippingLock) {
    // While this request waited for the lock, the order may have changed.
    loaders.orderById.clear(name);
    // Without a note, this request itself has sent nothing, and a failed read says nothing about an attempt.
    const found =
      lock.note === undefined
        ? { order: await loaders.orderById.load(name), shipment: null }
        : await shipmentLookup.find(name, undefined, lock);
    const shipment = found.shipment?.name ?? found.order?.shipment;
    return isResourceName('shipments', shipment) ? shipment : undefined;
  }

  return {
    createQuote,
    createShipment,

    /** Ships an order. @param ownProgress the progress of an earlier attempt with the same key. */
    shipOrder: (
      request: ShipOrderRequest,
      ownProgress: ShippingProgress | undefined,
      attempt: ShippingAttempt,
    ): Promise<ShippedOrder> =>
      idempotency.withLock(request.order, attempt, writeContext, (lock: ShippingLock) => {
        // While this request waited for the lock, the order may have changed. A noted shipment does not change.
        if (lock.note?.shipment === undefined) loaders.orderById.clear(request.order);
        return ownProgress === undefined && lock.note === undefined
          ? startShipping(request, attempt, lock)
          : resumeShipping(request, ownProgress, attempt, lock);
      }),

    /** Accepts a quote once, whatever the keys. @throws ConflictError if an earlier request has created a shipment. */
    async acceptQuote(shipment: CreateShipmentJson, attempt: Held): Promise<ShipmentJson> {
      const { quote } = shipment;
      const order = (await loaders.quoteById.load(quote))?.order;
      const isOfOrder = isResourceName('orders', order);
      const resource = isOfOrder ? order : quote;
      return idempotency.withLock(resource, attempt, writeContext, async (lock: ShippingLock) => {
        const earlier = isOfOrder
          ? await earlierShipmentOf(order, lock)
          : lock.note && (await shipmentLookup.findByQuote(lock))?.name;
        if (earlier !== undefined) throw alreadyShipped(resource, earlier, true);
        return postNoted(shipment, earliestCreation(api), lock);
      });
    },
  };
}

/** The result of a shipment whose quote was created by an earlier attempt. */
function resumedShipping(order: OrderJson, { quote, offer }: ShippingProgress, shipment: ShipmentJson) {
  return { order: { ...order, shipment: shipment.name }, quote: { name: quote }, offer, shipment };
}

/** An order of these statuses cannot be shipped, or shipped again ("Order status"). */
const finishedStatuses: readonly string[] = ['CANCELLED', 'DELIVERED', 'RETURN'];

/**
 * @throws ConflictError if the order is shipped already or finished, and InvalidResponseError if REST omitted a field
 * that the quote or the shipment needs. Without the amount of cash on delivery, the courier would collect nothing.
 */
function expectShippable(order: OrderJson): asserts order is OrderJson & { recipient: { location: string } } {
  const { name, shipment, status, recipient, cashOnDeliveryRequestCents } = order;
  if (shipment !== undefined && shipment !== null && shipment !== '') {
    const message = `${name} is already shipped as ${shipment}. No new shipment was created. Read the field "shipment" of the order.`;
    throw new ConflictError(message, { reason: 'ALREADY_SHIPPED', shipment });
  }
  if (finishedStatuses.includes(status)) {
    const message = `${name} is ${status} and can't be shipped. Nothing was shipped.`;
    throw new ConflictError(message, { reason: 'ORDER_FINISHED' });
  }
  const missing = (field: string) =>
    new InvalidResponseError(`The REST service sent ${name} without ${field}`);
  if (!isResourceName('locations', recipient?.location)) throw missing("its recipient's location");
  if (!Array.isArray(recipient.address?.addressLines)) throw missing("its recipient's address");
  if (typeof cashOnDeliveryRequestCents !== 'number') throw missing('its amount of cash on delivery');
}

/** @throws the error of a quote. A quote binds nothing, so a record of another request leaves no outcome unknown. */
function throwNothingShipped(error: unknown): never {
  const cause = error instanceof OutcomeUnknownError ? error.cause : undefined;
  if (!(cause instanceof ForeignRecordError || cause instanceof UnexpectedNameError)) throw error;
  throw new InvalidResponseError(`${cause.message}. Nothing was shipped. Send the request again.`);
}

function locationOf({ name, location }: OriginJson): string {
  if (isResourceName('locations', location)) return location;
  throw new InvalidResponseError(`The REST service sent ${name} without its location`);
}

function termsOf({ recipient, cashOnDeliveryRequestCents }: OrderJson): object {
  return { destination: recipient.location, cashOnDeliveryRequestCents };
}

/** The recipient for Create Shipment ("Shipment"). The quote's destination implies region, area and locality. */
function shipmentRecipient(recipient: RecipientJson): CreateShipmentJson['recipient'] {
  const { firstName, lastName, email, phoneNumber, address, documentType, document } = recipient;
  const { addressLines, organization } = address;
  return {
    firstName,
    lastName,
    email,
    phoneNumber,
    address: { addressLines, organization },
    documentType,
    document,
  };
}
