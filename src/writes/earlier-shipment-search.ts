import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CreateShipmentJson } from '../rest/api-types.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { OutcomeUnknownError } from '../rest/errors.ts';
import { isSameName } from '../rest/repeated-names.ts';
import { isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type { OfferJson, OrderJson, ShipmentJson } from '../rest/wire-schema.ts';
import { findCreatedShipment, findOrUnknown, shipmentReadings } from './created-record-search.ts';
import { ConflictError, NotFoundError } from './errors.ts';
import type { Lock } from './idempotency.ts';
import { type ForgottenShipment, findForgotten } from './search-after-failover.ts';
import {
  type LossTime,
  type LostWrite,
  latestLoss,
  lossOf,
  searchUntilSettled,
} from './search-until-settled.ts';

/** The checkpoint of an idempotency key: `POST /v1/shipments` was about to be sent for this quote and offer. */
export interface ShippingProgress extends Pick<ShippingNote, 'quote' | 'earliestMs'> {
  offer: OfferJson;
  /** A digest of the fields of the order that the quote depends on. */
  terms: string;
  /** When REST refused the quote. REST may have done so because it had already accepted the quote. */
  refused?: LossTime;
}

/**
 * The checkpoint of an order's lock: its last `POST /v1/shipments`, under any idempotency key. Without `shipment` and
 * `lost`, the POST waits to be sent or is on its way. The next holder of the lock gets such a note from a dead one.
 */
export interface ShippingNote extends LostWrite {
  quote: string;
  /** Of the first attempt to accept this quote, by REST's clock: REST cannot have accepted the quote before. */
  earliestMs?: number | undefined;
  /** When the last attempt to accept this quote began, by REST's clock. */
  postedAtMs?: number | undefined;
  /** Once known. */
  shipment?: string;
}

/** The lock of an order, or of a quote without an order. */
export type ShippingLock = Lock<ShippingNote>;

/** How long the order's field `shipment` may stay empty after the shipment was created, in milliseconds. */
const maxNamingDelayMs = 3_600_000;

/** A quote that may have been accepted since a time of REST's clock. */
type Attempted = Pick<ShippingNote, 'quote' | 'earliestMs'> & Pick<ShippingProgress, 'refused'>;

/**
 * Makes the searches for the shipment of an earlier attempt, for the writes of one operation.
 * @param processingMs how long after a lost POST its shipment may still appear, in milliseconds.
 */
export function createShipmentLookup(
  api: RestApi,
  callContext: CallContext,
  loaders: Loaders,
  processingMs: number,
) {
  const readShipments = shipmentReadings(api, callContext);

  /** Searches at once. If the noted POST is lost, or one was refused, a search without a conclusive result is repeated. */
  async function searchFor<Result>(
    lock: ShippingLock,
    look: () => Promise<Result>,
    isConclusive: (result: Result) => boolean,
    refused?: LossTime,
  ): Promise<Result> {
    const search = () => findOrUnknown(look);
    const { note } = lock;
    const isLost = note !== undefined && note.shipment === undefined;
    const losses = [isLost ? await lossOf(note, lock.checkpoint) : undefined, refused];
    const latest = latestLoss(losses.filter((loss) => loss !== undefined));
    if (latest === undefined) return search();
    return searchUntilSettled(latest, search, isConclusive, processingMs, callContext);
  }

  /** Compares what the order names, what the last POST of the order noted, and what this key has attempted. */
  async function lookUp(
    name: ResourceName<'orders'>,
    ownProgress: Attempted | undefined,
    note: ShippingNote | undefined,
  ): Promise<{ order: OrderJson; shipment: ShipmentJson | null }> {
    // A noted shipment does not change, but an order without one may have changed since its last read.
    if (note?.shipment === undefined) loaders.orderById.clear(name);
    const order = await loaders.orderById.loadById(name);
    if (order === null) {
      if (ownProgress === undefined) throw new NotFoundError(name, 'order');
      throw new OutcomeUnknownError(`${name} no longer exists. It may have been shipped`);
    }
    const ownQuote = ownProgress?.quote;
    if (isResourceName('shipments', order.shipment)) {
      if (ownProgress === undefined) return { order, shipment: null };
      const shipment = await loadShipment(order.shipment);
      return { order, shipment: isSameName('quotes', shipment.quote, ownQuote) ? shipment : null };
    }
    // No response has told of a shipment, so only the list can show one.
    if (note?.shipment === undefined) return { order, shipment: await findShipment([ownProgress, note]) };
    // REST has created the noted shipment, although the order does not name it.
    if (note.quote === ownQuote) return { order, shipment: await loadShipment(note.shipment) };
    // That of another key counts until the order should have named it. A POST at an unknown time counts as recent.
    const elapsedMs = (api.serviceTime() ?? 0) - (note.postedAtMs ?? Number.POSITIVE_INFINITY);
    if (elapsedMs < maxNamingDelayMs) throw alreadyShipped(order.name, note.shipment, { isNamed: false });
    return { order, shipment: await findShipment([ownProgress]) };
  }

  async function findShipment(candidates: readonly (Attempted | undefined)[]) {
    const attempts = candidates.filter((attempt) => attempt !== undefined);
    if (attempts.length === 0) return null;
    const quotes = attempts.map(({ quote }) => quote);
    const times = attempts.map(({ earliestMs }) => earliestMs ?? Number.NEGATIVE_INFINITY);
    return findCreatedShipment(readShipments, quotes, Math.min(...times));
  }

  async function loadShipment(name: string): Promise<ShipmentJson> {
    const shipment = await loaders.shipmentById.load(name);
    if (shipment === null) throw new OutcomeUnknownError(`${name} can't be found`);
    return shipment;
  }

  return {
    /**
     * Looks for the shipment of the last POST of an order. No shipment counts only when REST can no longer create or hide
     * it, and until then this waits.
     * @returns the order, and the shipment of the key of `ownProgress` or of the last POST. Null if there is none, or
     * if the order names another shipment. Without `ownProgress`, also null if the order names a shipment.
     * @throws NotFoundError. ConflictError if another key shipped the order and the order does not name its shipment
     * yet. OutcomeUnknownError if a shipment may exist that cannot be identified. UnsettledError instead of a wait beyond the
     * deadline.
     */
    find: (order: ResourceName<'orders'>, ownProgress: Attempted | undefined, lock: ShippingLock) =>
      searchFor(
        lock,
        () => lookUp(order, ownProgress, lock.note),
        ({ order, shipment }) => shipment !== null || isResourceName('shipments', order.shipment),
        ownProgress?.refused,
      ),

    /** Does the same for the lock of a quote without an order. @returns the shipment of the last POST, or null. */
    findByQuote: (lock: ShippingLock): Promise<ShipmentJson | null> =>
      searchFor(
        lock,
        async () =>
          lock.note?.shipment === undefined ? findShipment([lock.note]) : loadShipment(lock.note.shipment),
        (shipment) => shipment !== null,
      ),

    /**
     * For a store that may have lost notes: looks for a shipment of the same quote or order before the POST.
     * @throws ConflictError if there is one, and the errors of `find`.
     */
    async expectNoneForgotten(
      shipment: CreateShipmentJson,
      order: ResourceName<'orders'> | undefined,
      { notesLost }: ShippingLock,
    ): Promise<void> {
      if (notesLost === undefined) return;
      const look = () => findOrUnknown(() => findForgotten(api, readShipments, loaders, shipment, order));
      const isFound = (found: ForgottenShipment | null) => found !== null;
      const found = await searchUntilSettled(notesLost, look, isFound, processingMs, callContext);
      if (found !== null) throw alreadyShipped(order ?? shipment.quote, found.name, found);
    },
  };
}

/** The error of an order, or a quote, that has a shipment. `isNamed`: whether the order names it. */
export function alreadyShipped(
  name: string,
  shipment: string,
  { isNamed }: { isNamed: boolean },
): ConflictError {
  const what = isNamed ? shipment : `${shipment}, but the order does not show this shipment yet`;
  const message = `${name} is already shipped as ${what}. No new shipment was created. Read shipment(id: "${shipment}").`;
  return new ConflictError(message, { reason: 'ALREADY_SHIPPED', shipment });
}
