import { monotonicMs } from '../base/monotonic-ms.ts';
import { pause } from '../concurrency/cancellation.ts';
import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { AbortedError, DeadlineError, OutcomeUnknownError, StatusError } from '../rest/errors.ts';
import { isOfGateway } from '../rest/gateway-statuses.ts';
import { isSameName } from '../rest/repeated-names.ts';
import { isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type { OfferJson, OrderJson, ShipmentJson } from '../rest/wire-schema.ts';
import { ConflictError, NotFoundError } from './errors.ts';
import type { Lock } from './idempotency.ts';
import { findCreatedShipment, withRecovery } from './recovery.ts';

/** The checkpoint of an idempotency key: `POST /v1/shipments` was about to be sent for this quote and offer. */
export interface ShippingProgress extends Pick<ShippingNote, 'quote' | 'earliestMs'> {
  offer: OfferJson;
  /** A digest of the fields of the order that the quote depends on. */
  terms: string;
}

/** The checkpoint of an order's lock: its last `POST /v1/shipments`, under any idempotency key. */
export interface ShippingNote {
  quote: string;
  /** Of the first attempt to accept this quote, by REST's clock: REST cannot have accepted the quote before. */
  earliestMs?: number | undefined;
  /** When the last attempt to accept this quote began, by REST's clock. */
  postedAtMs?: number | undefined;
  /** Whether the POST waits to be sent, or is on its way. The next holder of the lock gets such a note from a dead one. */
  isSending?: boolean;
  /**
   * Since when no process can send the POST any more, in milliseconds of the machine's monotonic clock. While present,
   * REST may still be processing the POST. Absent once REST has responded or closed the connection.
   */
  unsettledSinceMs?: number;
  /** Once known. */
  shipment?: string;
}

/** The lock of an order, or of a quote without an order. */
export type ShippingLock = Lock<ShippingNote>;

/** How long the order's field `shipment` may stay empty after the shipment was created, in milliseconds. */
const maxNamingDelayMs = 3_600_000;

/**
 * Waits until REST can no longer be processing a POST: `processingMs` after `unsettledSinceMs`, by the monotonic clock.
 * Throws OutcomeUnknownError at once if the deadline is earlier.
 */
export async function untilSettled(
  unsettledSinceMs: number,
  processingMs: number,
  { deadline, signal }: CallContext,
) {
  const elapsedMs = monotonicMs() - unsettledSinceMs;
  const waitMs = processingMs - elapsedMs;
  // A restart of the machine resets the clock, and takes longer than REST may need.
  if (elapsedMs < 0 || waitMs <= 0) return;
  if (waitMs >= deadline.remainingMs())
    throw new OutcomeUnknownError('The REST service may still be processing an earlier attempt');
  // After an abort, the reads of the search fail.
  await pause(waitMs, signal);
}

/** @param processingMs how long REST may keep processing an aborted POST. */
export function createShipmentLookup(
  api: RestApi,
  callContext: CallContext,
  loaders: Loaders,
  processingMs: number,
) {
  /** Waits until REST can no longer be processing the noted POST. Throws at once if the deadline is earlier. */
  async function settle(lock: ShippingLock): Promise<void> {
    if (lock.note?.isSending === true) {
      // Its process has died, and could send it until now: the POST may have waited for a slot.
      await lock.checkpoint({ ...lock.note, isSending: false, unsettledSinceMs: monotonicMs() });
    }
    const { note } = lock;
    if (note?.unsettledSinceMs === undefined || note.shipment !== undefined) return;
    await untilSettled(note.unsettledSinceMs, processingMs, callContext);
  }

  async function lookUp(
    name: ResourceName<'orders'>,
    ownProgress: ShippingProgress | undefined,
    note: ShippingNote | undefined,
  ): Promise<{ order: OrderJson; shipment: ShipmentJson | null }> {
    const order = await loaders.orderById.load(name);
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
    if (note?.shipment === undefined) return { order, shipment: await findShipment([ownProgress, note]) };
    if (note.quote === ownQuote) return { order, shipment: await loadShipment(note.shipment) };
    const elapsedMs = (api.serviceTime() ?? 0) - (note.postedAtMs ?? Number.POSITIVE_INFINITY);
    if (elapsedMs < maxNamingDelayMs) throw alreadyShipped(order.name, note.shipment, false);
    return { order, shipment: await findShipment([ownProgress]) };
  }

  async function findShipment(candidates: readonly (ShippingProgress | ShippingNote | undefined)[]) {
    const attempts = candidates.filter((attempt) => attempt !== undefined);
    if (attempts.length === 0) return null;
    const quotes = attempts.map(({ quote }) => quote);
    const times = attempts.map(({ earliestMs }) => earliestMs ?? Number.NEGATIVE_INFINITY);
    return findCreatedShipment(api, callContext, quotes, Math.min(...times));
  }

  async function loadShipment(name: string): Promise<ShipmentJson> {
    const shipment = await loaders.shipmentById.load(name);
    if (shipment === null) throw new OutcomeUnknownError(`${name} can't be found`);
    return shipment;
  }

  return {
    /**
     * Waits until REST can no longer be processing the last POST of an order, then looks for its shipment.
     * @returns the order, and the shipment of the key of `ownProgress` or of the last POST. Null if there is none, or
     * if the order names another shipment. Without `ownProgress`, also null if the order names a shipment.
     * @throws NotFoundError. ConflictError if another key shipped the order and the order does not name its shipment
     * yet. OutcomeUnknownError if a shipment may exist that cannot be identified.
     */
    async find(order: ResourceName<'orders'>, ownProgress: ShippingProgress | undefined, lock: ShippingLock) {
      await settle(lock);
      return withRecovery(() => lookUp(order, ownProgress, lock.note));
    },

    /** Does the same for the lock of a quote without an order. @returns the shipment of the last POST, or null. */
    async findByQuote(lock: ShippingLock): Promise<ShipmentJson | null> {
      await settle(lock);
      const { note } = lock;
      return withRecovery(() =>
        note?.shipment === undefined ? findShipment([note]) : loadShipment(note.shipment),
      );
    },
  };
}

/** Whether a write was aborted here or by a gateway, so that REST may still be processing the write. */
export function wasAborted(error: unknown): boolean {
  const cause = error instanceof OutcomeUnknownError ? error.cause : error;
  if (cause instanceof StatusError) return isOfGateway(cause.status);
  return cause instanceof DeadlineError || cause instanceof AbortedError;
}

/** The error of an order, or a quote, that has a shipment. `isNamed`: whether the order names it. */
export function alreadyShipped(name: string, shipment: string, isNamed: boolean): ConflictError {
  const what = isNamed ? shipment : `${shipment}, but the order does not show this shipment yet`;
  const message = `${name} is already shipped as ${what}. No new shipment was created. Read shipment(id: "${shipment}").`;
  return new ConflictError(message, { reason: 'ALREADY_SHIPPED', shipment });
}
