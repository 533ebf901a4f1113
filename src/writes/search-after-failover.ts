import type { Loaders } from '../loaders/loaders.ts';
import type { ReadPages } from '../loaders/scan/shared-readings.ts';
import type { RestApi } from '../rest/api.ts';
import type { CreateShipmentJson } from '../rest/api-types.ts';
import { OutcomeUnknownError } from '../rest/errors.ts';
import { isSameName } from '../rest/repeated-names.ts';
import { isResourceName, type ResourceName } from '../rest/resource-name.ts';
import type { ShipmentJson } from '../rest/wire-schema.ts';
import { findShipment, isOlder, quoteOf, type ShipmentRow } from './created-record-search.ts';

/** A shipment that exists, although the store has no note of it. */
export interface ForgottenShipment {
  name: string;
  /** Whether its order names it. */
  isNamed: boolean;
}

/**
 * How old a shipment to the same person may be, in milliseconds. Shipments are looked for within 24 hours after a
 * failover, and another 24 hours leave room for a long failover.
 */
const maxAgeMs = 48 * 3_600_000;

/**
 * Looks for a shipment that an attempt without a note may have created: the one that the order names, or one of the list
 * that has the same quote, or that goes to the same person by a quote of the same order.
 * @throws OutcomeUnknownError if the order of such a quote is unknown, and the errors of REST.
 */
export async function findForgotten(
  { serviceTime }: RestApi,
  readShipments: ReadPages<ShipmentJson>,
  loaders: Loaders,
  wanted: CreateShipmentJson,
  order: ResourceName<'orders'> | undefined,
): Promise<ForgottenShipment | null> {
  if (order !== undefined) {
    loaders.orderById.clear(order);
    const name = (await loaders.orderById.loadById(order))?.shipment;
    if (isResourceName('shipments', name)) return { name, isNamed: true };
  }

  const nowMs = serviceTime();
  const earliestMs = nowMs === undefined ? Number.NEGATIVE_INFINITY : nowMs - maxAgeMs;

  async function isWanted(row: ShipmentRow): Promise<boolean> {
    const name = quoteOf(row);
    if (isSameName('quotes', wanted.quote, name)) return true;
    if (isOlder(row, earliestMs)) return false;
    if (order === undefined || !isResourceName('quotes', name) || !isToSamePerson(row, wanted)) return false;
    const quote = await loaders.quoteById.load(name);
    if (quote !== null) return isSameName('orders', order, quote.order);
    throw new OutcomeUnknownError(`a shipment to the same person exists, but its ${name} can't be found`);
  }

  async function pick(rows: readonly ShipmentRow[]): Promise<ShipmentJson | undefined> {
    const areWanted = await Promise.all(rows.map(isWanted));
    // A wanted row has a quote, so it is no invalid row.
    return rows.find((_, index) => areWanted[index]) as ShipmentJson | undefined;
  }

  const found = await findShipment(readShipments, pick, earliestMs);
  return found === null ? null : { name: found.name, isNamed: false };
}

/** By the phone number or by both names. A match costs a read of the quote, which decides. */
function isToSamePerson(row: ShipmentRow, { recipient }: CreateShipmentJson): boolean {
  const { phoneNumber, firstName, lastName } = Object('recipient' in row ? row.recipient : undefined);
  return (
    phoneNumber === recipient.phoneNumber ||
    (firstName === recipient.firstName && lastName === recipient.lastName)
  );
}
