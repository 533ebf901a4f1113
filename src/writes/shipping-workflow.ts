// The states of an order that is to be shipped. `progress` is stored under the idempotency key of this request, and
// `note` under the order's lock, which all requests of the merchant share. REST has no key for a POST, so each state
// after a POST without a response is resolved by a search for the shipment of its quote (earlier-attempt.ts).
//
// | known                                        | stored                           | next                                  |
// | -------------------------------------------- | -------------------------------- | ------------------------------------- |
// | nobody has shipped the order                 | nothing                          | create a quote, choose                |
// | no offer fits                                | nothing                          | store the offers at the key           |
// | an offer is chosen                           | nothing                          | store the progress, and note the POST |
// | the POST is about to leave, or has left      | progress, note                   | send the POST                         |
// | REST has created the shipment                | progress, note                   | note `shipment`, end the lock         |
// | the lock has ended                           | progress, note with `shipment`   | store the result at the key           |
// | REST has rejected the POST                   | progress, the note from before   | throw; a new key is free              |
// | the POST is lost: no usable response, or 5xx | progress, note with `lost`       | throw; the key is taken               |
// | REST may have rejected a repetition (409)    | progress, note with `lost`       | search, for the shipment of this POST |
//
// The next request for the order, with any key or none, searches if there is a note. A note without `shipment` and
// `lost` is that of a dead process, and is lost from this moment on. A search that finds nothing counts only when
// `processingMs` have passed since `lost`. Until then the request waits and searches again, or throws UnsettledError.
//
// | its key has progress | the search finds    | next                                                                |
// | -------------------- | ------------------- | ------------------------------------------------------------------- |
// | yes                  | its shipment        | return the shipment                                                 |
// | yes                  | none                | POST the same quote, or a new one if the order has changed          |
// | no                   | none                | create a quote: an earlier quote without a shipment has no effect   |
// | yes or no            | another shipment    | throw ConflictError                                                 |
//
// After a rejection that may be of a repetition:
//
// | the search finds                       | next                                                            |
// | -------------------------------------- | --------------------------------------------------------------- |
// | the shipment of the quote              | as if REST had created the shipment                             |
// | none, or the order names another       | as if REST had rejected the POST                                |
// | nothing, as it fails or lacks the time | throw UnclearRefusalError; the key is taken, `lost` stays noted |
//
// For 24 hours after a failover of the store, progress and notes may be lost. Before each POST, this server then looks
// for a shipment of the same quote, or of the same order (forgotten-shipment.ts).
//
// `createShipment` has no progress. It runs the same states at the lock of the order of its quote, or of the quote.

import { setImmediate as nextRound } from 'node:timers/promises';
import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CreateQuoteJson, CreateShipmentJson } from '../rest/api-types.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import {
  ForeignRecordError,
  InvalidResponseError,
  mayHaveHappened,
  OutcomeUnknownError,
  UnexpectedNameError,
} from '../rest/errors.ts';
import { readOffers } from '../rest/offers.ts';
import { isSameName } from '../rest/repeated-names.ts';
import { isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type { OrderJson, OriginJson, PackageJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import {
  alreadyShipped,
  createShipmentLookup,
  type ShippingLock,
  type ShippingNote,
  type ShippingProgress,
} from './earlier-attempt.ts';
import { NotFoundError } from './errors.ts';
import type { Attempt, Held, Idempotency } from './idempotency.ts';
import { invalidateAfterShipmentCreation } from './invalidation.ts';
import { lossNow } from './lost-write.ts';
import { explainNoOffer, type OfferPreference, selectOffer } from './offer-selection.ts';
import { earliestCreation } from './recovery.ts';
import { type ShippedOrder, toStoredOffer } from './restored-records.ts';
import { expectShippable, shipmentRecipient, termsOf } from './shippable-order.ts';
import { mayBeDone, searchAfterRefusal } from './unclear-refusal.ts';

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

  /**
   * Sends `POST /v1/shipments`, and notes the attempt and its result at a lock.
   * @param order the order of the quote, which has the lock. Undefined if the quote has none, and the lock itself.
   * @param storeProgress stores the progress of a key together with the note.
   */
  async function postNoted(
    shipment: CreateShipmentJson,
    order: ResourceName<'orders'> | undefined,
    earliestMs: number | undefined,
    lock: ShippingLock,
    storeProgress = async () => {},
  ): Promise<ShipmentJson> {
    await shipmentLookup.expectNoneForgotten(shipment, order, lock);
    const previousNote = lock.note;
    const note: ShippingNote = { quote: shipment.quote, earliestMs, postedAtMs: api.serviceTime() };
    await Promise.all([storeProgress(), lock.checkpoint(note)]);
    const created = await createShipment(shipment, lock).catch(async (error: unknown) => {
      const isUnclear = mayBeDone(error, 'quote');
      if (isUnclear || mayHaveHappened(error)) await lock.tryCheckpoint({ ...note, lost: lossNow() });
      const found = isUnclear
        ? await searchAfterRefusal(error, async () =>
            order === undefined
              ? shipmentLookup.findByQuote(lock)
              : (await shipmentLookup.find(order, note, lock)).shipment,
          )
        : null;
      if (found !== null) return found;
      // This failure does not undo an earlier attempt, which may have succeeded, so the earlier note is restored.
      if (!mayHaveHappened(error)) await lock.tryCheckpoint(previousNote);
      throw error;
    });
    lock.noteAtEnd({ ...note, shipment: created.name });
    return created;
  }

  async function startShipping(
    request: ShipOrderRequest,
    attempt: ShippingAttempt,
    lock: ShippingLock,
  ): Promise<ShippedOrder> {
    // A paid shipment must start at the current origin, so cached pages of origins are not used.
    if (loaders.originPage.forgetEarlier()) loaders.originById.clearAll();
    // Without a shipment, the reads and the quote would be in vain.
    api.expectShippingPermit(callContext);
    const pendingOrder = loaders.orderById.load(request.order);
    // An order that an open circuit breaker refuses needs no origin.
    await Promise.race([pendingOrder, nextRound()]);
    const [order, origin] = await Promise.all([pendingOrder, loaders.originById.load(request.origin)]);
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
    if (offer === null) {
      // After a pause of this process, another one may have shipped with its own quote.
      lock.expectHeld();
      return { quote, offers, noOffer: explainNoOffer(offers, request) };
    }
    const progress = {
      quote: quote.name,
      offer: toStoredOffer(offer),
      terms: digest(termsOf(order)),
      earliestMs: earliestCreation(api),
    };
    const shipment = await createOrderShipment(request, order, progress, lock, () =>
      attempt.checkpoint(progress),
    );
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
    const created = await createOrderShipment(request, order, ownProgress, lock);
    return resumedShipping(order, ownProgress, created);
  }

  function createOrderShipment(
    { order: name, origin, requiresPickup }: ShipOrderRequest,
    order: OrderJson,
    { quote, offer: { courier }, earliestMs }: ShippingProgress,
    lock: ShippingLock,
    storeProgress?: () => Promise<void>,
  ): Promise<ShipmentJson> {
    const recipient = shipmentRecipient(order.recipient);
    const shipment = { quote, courier, origin, recipient, requiresPickup };
    return postNoted(shipment, name, earliestMs, lock, storeProgress);
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

    /**
     * Accepts a quote once, whatever the keys.
     * @throws ConflictError if an earlier request has created a shipment. NotFoundError if REST shows no such quote: the
     * order to lock is then unknown.
     */
    async acceptQuote(shipment: CreateShipmentJson, attempt: Held): Promise<ShipmentJson> {
      idempotency.expectOpen();
      const quote = await loaders.quoteById.load(shipment.quote);
      if (quote === null) throw new NotFoundError(shipment.quote, 'quote');
      const order = isResourceName('orders', quote.order) ? quote.order : undefined;
      const resource = order ?? shipment.quote;
      return idempotency.withLock(resource, attempt, writeContext, async (lock: ShippingLock) => {
        const earlier =
          order === undefined
            ? lock.note && (await shipmentLookup.findByQuote(lock))?.name
            : await earlierShipmentOf(order, lock);
        if (earlier !== undefined) throw alreadyShipped(resource, earlier, true);
        return postNoted(shipment, order, earliestCreation(api), lock);
      });
    },
  };
}

/** The result of a shipment whose quote was created by an earlier attempt. */
function resumedShipping(order: OrderJson, { quote, offer }: ShippingProgress, shipment: ShipmentJson) {
  return { order: { ...order, shipment: shipment.name }, quote: { name: quote }, offer, shipment };
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
