import { pause } from '../concurrency/cancellation.ts';
import { endJoining } from '../concurrency/tenant.ts';
import type { Loaders } from '../loaders/loaders.ts';
import type { RestApi } from '../rest/api.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import {
  AbortedError,
  abortedError,
  DeadlineError,
  OutcomeUnknownError,
  StatusError,
} from '../rest/errors.ts';
import { isNameOf, type ResourceName } from '../rest/resource-name.ts';
import type { CreateQuoteJson } from '../rest/types.ts';
import type { OfferJson, OrderJson, QuoteJson, ShipmentJson } from '../rest/wire-schema.ts';
import { type Attempt, earliestCreation } from './attempt.ts';
import { ConflictError, NotFoundError } from './errors.ts';
import { findCreatedShipment, withRecovery } from './recovery.ts';

/** What was known before the shipment was asked for, which may have been created since. */
export interface Progress {
  asked: CreateQuoteJson;
  quote: QuoteJson;
  offer: OfferJson;
  attempt: Attempt;
}

/**
 * What is noted of an order by the last request that has asked for its shipment, under whatever key: by which quote and since
 * when, and the shipment once it is known.
 */
export interface ShippingNote {
  quote: string;
  attempt: Attempt;
  /**
   * When the request was sent or given up, by this machine's clock in milliseconds since 1970; absent once REST has ended it.
   * Until then REST may still be at work on it.
   */
  unsettledSinceMs?: number;
  shipment?: string;
}

/** How long REST may still be at work on a request that was given up, in milliseconds. */
const settlingMs = 10_000;
/** How long an order may take to name its shipment, in milliseconds. Later the order is taken at its word. */
const namingMs = 3_600_000;

/** The order as it is now, and the shipment that an earlier attempt has created; null where it is certain that there is none. */
interface Found {
  order: OrderJson;
  shipment: ShipmentJson | null;
}

/** What has come of an earlier attempt to ship an order, with the same key (`own`) or another. */
export function createEarlierShipping({
  api,
  callContext,
  loaders,
}: {
  api: RestApi;
  callContext: CallContext;
  loaders: Loaders;
}) {
  /** @throws OutcomeUnknownError at once where the operation has no time for that, and AbortedError. */
  async function waitForRest(forMs: number): Promise<void> {
    if (forMs >= callContext.deadline.remainingMs()) {
      throw new OutcomeUnknownError('REST may still be at work on an earlier attempt');
    }
    const { signal } = callContext;
    await pause(forMs, signal);
    if (signal.aborted) throw abortedError({ method: 'POST', path: '/v1/shipments' }, signal);
  }

  async function lookUp(
    name: ResourceName<'orders'>,
    own: Progress | undefined,
    note: ShippingNote | undefined,
  ): Promise<Found> {
    const order = await loaders.orderById.load(name);
    if (order === null) {
      if (own === undefined) throw new NotFoundError(name);
      throw new OutcomeUnknownError(`${name} is gone, and may have been shipped`);
    }
    const ownQuote = own?.quote.name;
    if (isNameOf('shipments', order.shipment)) {
      if (own === undefined) return { order, shipment: null };
      const shipment = await shipmentNamed(order.shipment);
      return { order, shipment: shipment.quote === ownQuote ? shipment : null };
    }
    if (note?.shipment !== undefined && note.quote === ownQuote) {
      return { order, shipment: await shipmentNamed(note.shipment) };
    }
    if (note?.shipment !== undefined && Date.now() - note.attempt.localMs < namingMs) {
      throw notNamedYet(order.name, note.shipment);
    }
    const sought = note?.shipment === undefined ? [own, note] : [own];
    return { order, shipment: await findShipment(sought) };
  }

  function findShipment(
    sought: readonly (Progress | ShippingNote | undefined)[],
  ): Promise<ShipmentJson | null> {
    const attempts = sought.filter((attempt) => attempt !== undefined);
    const quotes = attempts.map(({ quote }) => (typeof quote === 'string' ? quote : quote.name));
    const since = () => {
      const times = attempts.map(({ attempt }) => earliestCreation(attempt, api));
      return times.every((time) => time !== undefined) ? Math.min(...times) : undefined;
    };
    return quotes.length === 0 ? Promise.resolve(null) : findCreatedShipment(api, callContext, quotes, since);
  }

  async function shipmentNamed(name: string): Promise<ShipmentJson> {
    const shipment = await loaders.shipmentById.load(name);
    if (shipment === null) throw new OutcomeUnknownError(`${name} can't be found`);
    return shipment;
  }

  return {
    /**
     * Looks for what has come of it, once REST can no longer be at work on it. A shipment that the order names, and that was not
     * created with the same key, is left to the order to tell.
     * @throws NotFoundError for an order that is gone, ConflictError for one that was shipped with another key and does not name
     * its shipment yet, and OutcomeUnknownError where a shipment may be there all the same.
     */
    async find(
      order: ResourceName<'orders'>,
      own: Progress | undefined,
      note: ShippingNote | undefined,
    ): Promise<Found> {
      const unsettledForMs = unsettledMs(note);
      if (unsettledForMs > 0) await waitForRest(unsettledForMs);
      // What was asked for before may have been answered before the attempt, in another process.
      endJoining(callContext.tenant);
      return withRecovery(() => lookUp(order, own, note));
    },
  };
}

/** For how many milliseconds more REST may still be at work on an attempt. */
function unsettledMs(note: ShippingNote | undefined): number {
  if (note?.unsettledSinceMs === undefined || note.shipment !== undefined) return 0;
  return note.unsettledSinceMs + settlingMs - Date.now();
}

/** Whether a write was given up here, or by a gateway, while REST may still be at work on it. */
export function wasAborted(error: unknown): boolean {
  const cause = error instanceof OutcomeUnknownError ? error.cause : error;
  if (cause instanceof StatusError) return [408, 499, 504].includes(cause.status);
  return cause instanceof DeadlineError || cause instanceof AbortedError;
}

/** The conflict of an order that was shipped just now. */
export function notNamedYet(order: string, shipment: string): ConflictError {
  return new ConflictError(
    `${order} is shipped already, as ${shipment}, which the order does not name yet. Nothing was done. ` +
      `Look at shipment(id: "${shipment}").`,
  );
}
