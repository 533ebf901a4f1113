import type { CreateQuoteJson, CreateShipmentJson } from '../rest/api-types.ts';
import { mayHaveHappened } from '../rest/errors.ts';
import type { ResourceName } from '../rest/resource-name.ts';
import type { QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { createShipmentLookup, type ShippingLock, type ShippingNote } from './earlier-shipment-search.ts';
import type { Held } from './idempotency.ts';
import { invalidateAfterShipmentCreation } from './invalidation.ts';
import { lossNow } from './search-until-settled.ts';
import { isLastingRefusal, isUnclearRefusal, searchAfterRefusal } from './unclear-refusal.ts';
import type { WriteParts } from './write-types.ts';

/** What the steps of shipping need. */
export interface Shipping extends WriteParts {
  /** Finds the shipment of an earlier attempt. */
  readonly lookup: ReturnType<typeof createShipmentLookup>;
}

/** The parts of an operation's writes, with the search for earlier shipments. Its searches share their pages. */
export function shippingPartsOf(parts: WriteParts): Shipping {
  const { api, callContext, loaders, idempotency } = parts;
  const lookup = createShipmentLookup(api, callContext, loaders, idempotency.processingMs);
  return { ...parts, lookup };
}

/** Sends `POST /v1/quotes` ("Create Quote"). A quote binds nothing. */
export async function createQuote(
  { api, callContext, loaders }: Shipping,
  quote: CreateQuoteJson,
  { expectHeld }: Held,
): Promise<QuoteJson> {
  const created = await api.createQuote(quote, callContext.untilDeadline(expectHeld));
  loaders.quoteById.replace(created.name, created);
  return created;
}

/** A shipment to create, under the lock of the order of its quote. */
export interface ShipmentPost {
  shipment: CreateShipmentJson;
  /** Undefined if the quote has no order. Then the lock is that of the quote. */
  order: ResourceName<'orders'> | undefined;
  /** When this quote was first accepted, at the earliest. In milliseconds since 1970, by REST's clock. */
  earliestMs: number | undefined;
  lock: ShippingLock;
}

/**
 * Sends `POST /v1/shipments` ("Create Shipment"), which pays for a shipment. Notes the attempt at the lock before the POST,
 * and its result after the POST.
 * @param storeProgress stores the progress of an idempotency key together with the note.
 * @throws ConflictError if the key store lost its notes at a failover, and REST has a shipment of an earlier attempt.
 * After a failed POST its error, or UnclearRefusalError.
 */
export async function postShipment(
  shipping: Shipping,
  post: ShipmentPost,
  storeProgress = async () => {},
): Promise<ShipmentJson> {
  const { shipment, order, earliestMs, lock } = post;
  await shipping.lookup.expectNoneForgotten(shipment, order, lock);
  const noteBefore = lock.note;
  const note: ShippingNote = { quote: shipment.quote, earliestMs, postedAtMs: shipping.api.serviceTime() };
  await Promise.all([storeProgress(), lock.checkpoint(note)]);
  const created = await createShipment(shipping, shipment, lock).catch((error: unknown) =>
    findDespiteError(shipping, post, note, noteBefore, error),
  );
  lock.noteAtEnd({ ...note, shipment: created.name });
  return created;
}

async function createShipment(
  { api, callContext, loaders }: Shipping,
  shipment: CreateShipmentJson,
  { expectHeld }: Held,
): Promise<ShipmentJson> {
  const created = await api
    .createShipment(shipment, callContext.untilDeadline(expectHeld))
    .finally(() => invalidateAfterShipmentCreation(loaders));
  loaders.shipmentById.replace(created.name, created);
  return created;
}

/**
 * Returns the shipment of a POST that REST refused as a repetition. First notes that the POST may have happened. A POST
 * that certainly failed gets the earlier note back.
 * @throws the error of the POST if there is no such shipment, and UnclearRefusalError if nothing shows whether there is one.
 */
async function findDespiteError(
  shipping: Shipping,
  post: ShipmentPost,
  note: ShippingNote,
  noteBefore: ShippingNote | undefined,
  error: unknown,
): Promise<ShipmentJson> {
  const { lock } = post;
  const isUnclear = isUnclearRefusal(error, 'quote');
  if (isUnclear || mayHaveHappened(error)) await lock.tryCheckpoint({ ...note, lost: lossNow() });
  const found = isUnclear
    ? await searchAfterRefusal(error, async () => findOfPost(shipping, post, note))
    : null;
  if (found !== null) return found;
  if (mayHaveHappened(error)) throw error;
  // This failure does not undo an earlier attempt, which may have succeeded, so the earlier note is restored. But REST may
  // refuse a quote that it has accepted since, unless a search has just shown the opposite.
  const mayBeDone = noteBefore !== undefined && !isUnclear && isLastingRefusal(error);
  const earliestMs = noteBefore?.quote === note.quote ? noteBefore.earliestMs : note.earliestMs;
  await lock.tryCheckpoint(mayBeDone ? { ...note, earliestMs, lost: lossNow() } : noteBefore);
  throw error;
}

async function findOfPost({ lookup }: Shipping, { order, lock }: ShipmentPost, note: ShippingNote) {
  if (order === undefined) return lookup.findByQuote(lock);
  const { shipment } = await lookup.find(order, note, lock);
  return shipment;
}
