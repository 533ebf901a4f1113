// The states of an order that is to be shipped. `progress` is stored under the idempotency key of this request, and
// `note` under the order's lock, which all requests of the merchant share. REST has no key for a POST, so each state
// after a POST without a response is resolved by a search for the shipment of its quote (earlier-shipment-search.ts).
//
// | known                                        | stored                           | next                                  |
// | -------------------------------------------- | -------------------------------- | ------------------------------------- |
// | nobody has shipped the order                 | nothing                          | create a quote, choose                |
// | no offer fits                                | nothing                          | store the offers at the key           |
// | an offer is chosen                           | nothing                          | store the progress, and note the POST |
// | the POST is about to leave, or has left      | progress, note                   | send the POST                         |
// | REST has created the shipment                | progress, note                   | note `shipment`, end the lock         |
// | the lock has ended                           | progress, note with `shipment`   | store the result at the key           |
// | REST has rejected the POST                   | progress, the note from before   | throw; free the key if it is new      |
// | the same, and there was a note before        | progress with `refused`, note    | throw; the key stays taken            |
// |                                              | with `lost`                      |                                       |
// | the POST is lost: no usable response, or 5xx | progress, note with `lost`       | throw; the key stays taken            |
// | REST may have rejected a repetition (409)    | progress, note with `lost`       | search, for the shipment of this POST |
//
// The next request for the order, with any key or none, searches if there is a note. A note without `shipment` and
// `lost` is that of a dead process, and is lost from this moment on. A search that finds nothing counts only when
// `processingMs` have passed since `lost`, and since `refused`. Until then the request waits and searches again, or throws UnsettledError.
//
// | its key has progress | the search finds    | next                                                                |
// | -------------------- | ------------------- | ------------------------------------------------------------------- |
// | yes                  | its shipment        | return the shipment                                                 |
// | yes                  | none                | POST the same quote, or a new one if the order has changed          |
// | yes, `refused`       | none                | create a quote                                                      |
// | no                   | none                | create a quote: an earlier quote without a shipment has no effect   |
// | yes or no            | another shipment    | throw ConflictError                                                 |
//
// After a rejection that may be of a repetition:
//
// | the search finds                       | next                                                            |
// | -------------------------------------- | --------------------------------------------------------------- |
// | the shipment of the quote              | as if REST had created the shipment                             |
// | none, or the order names another       | as if REST had rejected the POST                                |
// | nothing, as it fails or lacks the time | throw UnclearRefusalError; the key stays taken, and `lost` noted|
//
// For 24 hours after a failover of the store, progress and notes may be lost. Before each POST, this server then looks
// for a shipment of the same quote, or of the same order (search-after-failover.ts).
//
// The POST with its notes is in shipping-posts.ts. `createShipment` has no progress. It runs the same states at the lock of
// the order of its quote, or of the quote (create-shipment-workflow.ts).

import { setImmediate as nextRound } from 'node:timers/promises';
import {
  ForeignRecordError,
  InvalidResponseError,
  OutcomeUnknownError,
  UnexpectedNameError,
} from '../rest/errors.ts';
import { readOffers } from '../rest/offers.ts';
import { isSameName } from '../rest/repeated-names.ts';
import { isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type { OrderJson, OriginJson, PackageJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { earliestCreation } from './created-record-search.ts';
import { alreadyShipped, type ShippingLock, type ShippingProgress } from './earlier-shipment-search.ts';
import { NotFoundError } from './errors.ts';
import type { Attempt } from './idempotency.ts';
import { explainNoOffer, type OfferPreference, selectOffer } from './offer-selection.ts';
import { type ShippedOrder, toStoredOffer } from './restored-records.ts';
import { lossNow } from './search-until-settled.ts';
import { expectShippable, shipmentRecipient, termsOf } from './shippable-order.ts';
import { createQuote, postShipment, type Shipping } from './shipping-posts.ts';
import { isLastingRefusal } from './unclear-refusal.ts';

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

/**
 * Ships an order: quotes it, selects an offer and creates the shipment. One request at a time holds the order.
 * @param ownProgress the progress of an earlier attempt with the same key.
 * @returns the shipped order, or the offers if none fits the request.
 * @throws NotFoundError, ConflictError, and OutcomeUnknownError if a shipment may exist that cannot be identified.
 */
export async function shipOrder(
  shipping: Shipping,
  request: ShipOrderRequest,
  ownProgress: ShippingProgress | undefined,
  attempt: ShippingAttempt,
): Promise<ShippedOrder> {
  const { callContext, loaders, idempotency } = shipping;
  const writeContext = callContext.untilDeadline();
  return idempotency.withLock(request.order, attempt, writeContext, (lock: ShippingLock) => {
    // While this request waited for the lock, the order may have changed. A noted shipment does not change.
    if (lock.note?.shipment === undefined) loaders.orderById.clear(request.order);
    return ownProgress === undefined && lock.note === undefined
      ? startShipping(shipping, request, attempt, lock)
      : resumeShipping(shipping, request, ownProgress, attempt, lock);
  });
}

/** Ships an order that nobody has shipped, with a new quote. */
async function startShipping(
  shipping: Shipping,
  request: ShipOrderRequest,
  attempt: ShippingAttempt,
  lock: ShippingLock,
): Promise<ShippedOrder> {
  const { order, origin } = await readOrderAndOrigin(shipping, request);
  const quote = await quoteOrder(shipping, request, order, origin, lock);
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
    terms: shipping.idempotency.digest(termsOf(order)),
    earliestMs: earliestCreation(shipping.api),
  };
  const storeProgress = () => attempt.checkpoint(progress);
  const shipment = await acceptOffer(shipping, request, order, progress, attempt, lock, storeProgress);
  return { order: { ...order, shipment: shipment.name }, quote, offer, shipment };
}

/** Ships an order after an earlier attempt whose outcome is unknown. Looks for the shipment of that attempt first. */
async function resumeShipping(
  shipping: Shipping,
  request: ShipOrderRequest,
  ownProgress: ShippingProgress | undefined,
  attempt: ShippingAttempt,
  lock: ShippingLock,
): Promise<ShippedOrder> {
  const { order, shipment } = await shipping.lookup.find(request.order, ownProgress, lock);
  if (shipment !== null) return useExistingShipment(order, shipment, ownProgress, lock);
  // A quote without a response has no effect, so another quote is safe.
  if (ownProgress === undefined) return startShipping(shipping, request, attempt, lock);
  expectShippable(order);
  // The order may have changed since the quote was created.
  const hasChanged = shipping.idempotency.digest(termsOf(order)) !== ownProgress.terms;
  if (hasChanged || ownProgress.refused) return startShipping(shipping, request, attempt, lock);
  const created = await acceptOffer(shipping, request, order, ownProgress, attempt, lock);
  return resumedShipping(order, ownProgress, created);
}

/** Returns the shipment of an earlier attempt. @throws ConflictError if another key has created it. */
async function useExistingShipment(
  order: OrderJson,
  shipment: ShipmentJson,
  ownProgress: ShippingProgress | undefined,
  lock: ShippingLock,
): Promise<ShippedOrder> {
  if (lock.note !== undefined) await lock.tryCheckpoint({ ...lock.note, shipment: shipment.name });
  if (ownProgress !== undefined && isSameName('quotes', shipment.quote, ownProgress.quote))
    return resumedShipping(order, ownProgress, shipment);
  throw alreadyShipped(order.name, shipment.name, { isNamed: false });
}

/** Reads what the quote needs. @throws NotFoundError, and ConflictError if the order cannot be shipped. */
async function readOrderAndOrigin({ api, callContext, loaders }: Shipping, request: ShipOrderRequest) {
  // A paid shipment must start at the current origin, so cached pages of origins are not used.
  if (loaders.originPage.forgetEarlier()) loaders.originById.clearAll();
  // While a circuit breaker refuses quotes or shipments, the reads would be useless.
  api.expectShippingPermit(callContext);
  const pendingOrder = loaders.orderById.loadById(request.order);
  // An order that an open circuit breaker refuses needs no origin.
  await Promise.race([pendingOrder, nextRound()]);
  const [order, origin] = await Promise.all([pendingOrder, loaders.originById.load(request.origin)]);
  if (order === null) throw new NotFoundError(request.order, 'order');
  expectShippable(order);
  if (origin === null) throw new NotFoundError(request.origin, 'origin');
  return { order, origin };
}

/** Creates the quote of an order. @param order one that `expectShippable` has checked. */
function quoteOrder(
  shipping: Shipping,
  request: ShipOrderRequest,
  order: OrderJson & { recipient: { location: string } },
  origin: OriginJson,
  lock: ShippingLock,
): Promise<QuoteJson> {
  const quote = {
    origin: locationOf(origin),
    destination: order.recipient.location,
    package: request.package,
    cashOnDeliveryRequestCents: order.cashOnDeliveryRequestCents,
    order: order.name,
  };
  return createQuote(shipping, quote, lock).catch(throwNothingShipped);
}

/** Creates the shipment of the offer in `progress`. */
async function acceptOffer(
  shipping: Shipping,
  { order: name, origin, requiresPickup }: ShipOrderRequest,
  order: OrderJson,
  progress: ShippingProgress,
  attempt: ShippingAttempt,
  lock: ShippingLock,
  storeProgress?: () => Promise<void>,
): Promise<ShipmentJson> {
  const { quote, offer, earliestMs } = progress;
  const recipient = shipmentRecipient(order.recipient);
  const shipment = { quote, courier: offer.courier, origin, recipient, requiresPickup };
  try {
    return await postShipment(shipping, { shipment, order: name, earliestMs, lock }, storeProgress);
  } catch (error) {
    // The next request with the key needs another quote, but its search still looks for the shipment of this one.
    if (isLastingRefusal(error)) await attempt.tryCheckpoint({ ...progress, refused: lossNow() });
    throw error;
  }
}

/** The result of a shipment whose quote was created by an earlier attempt. */
function resumedShipping(order: OrderJson, { quote, offer }: ShippingProgress, shipment: ShipmentJson) {
  return { order: { ...order, shipment: shipment.name }, quote: { name: quote }, offer, shipment };
}

/** Throws the error of a quote. A quote binds nothing, so a record of another request leaves no outcome unknown. */
function throwNothingShipped(error: unknown): never {
  const cause = error instanceof OutcomeUnknownError ? error.cause : undefined;
  if (!(cause instanceof ForeignRecordError || cause instanceof UnexpectedNameError)) throw error;
  throw new InvalidResponseError(`${cause.message}. Nothing was shipped. Send the request again.`);
}

function locationOf({ name, location }: OriginJson): string {
  if (isResourceName('locations', location)) return location;
  throw new InvalidResponseError(`The REST service sent ${name} without its location`);
}
