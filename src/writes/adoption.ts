import { type Loaders, maxPageSize } from '../loaders/loaders.ts';
import { allRecords } from '../loaders/page-loader.ts';
import { isConflict, isNotFound, isRefusedInput, OutcomeUnknownError } from '../rest/errors.ts';
import type { CreateOrderJson, OrderJson, ShipmentJson } from '../rest/types.ts';

/**
 * Looks for what an earlier attempt without an answer has done. Where REST refuses to be asked, that says nothing of the
 * attempt: its outcome stays unknown.
 */
export async function lookedFor<Found>(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!isOfRequest(error)) throw error;
    throw new OutcomeUnknownError('An earlier attempt with this key got no answer', { cause: error });
  }
}

/** Whether REST found fault with what it was asked, rather than with who asked or how often. */
function isOfRequest(error: unknown): boolean {
  return isRefusedInput(error) || isNotFound(error) || isConflict(error);
}

/**
 * The order that an attempt without an answer has created after all, or null where it can't be told: an order with the
 * same reference and with everything else as it was sent. Where there are several, another attempt may have made them.
 */
export async function findCreatedOrder(
  { orderPage }: Loaders,
  wanted: CreateOrderJson,
): Promise<OrderJson | null> {
  const { referenceId } = wanted;
  if (referenceId === undefined || referenceId === '') return null;
  const found = await allRecords(orderPage, { search: referenceId, pageSize: maxPageSize.orders });
  const fitting = found.filter((order) => holds(order, asRecorded(wanted)));
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

/** What was sent, without what the order's life may have changed since, and what REST gives another form. */
function asRecorded({ status: _status, referenceUrl: _url, recipient, ...order }: CreateOrderJson): object {
  const { documentType: _type, document: _document, address, ...person } = recipient;
  return { ...order, recipient: { ...person, address: { addressLines: address.addressLines } } };
}

/** Whether a value has all that is wanted of it, and perhaps more. */
function holds(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return value === wanted;
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return Object.entries(wanted).every(([name, part]) => holds(fields.get(name), part));
}

/**
 * The shipment of a quote, or null. Looks at the newest page alone, as it can be no older than its key.
 * @throws OutcomeUnknownError where it may be one that can't be read.
 */
export async function findCreatedShipment(
  { shipmentPage }: Loaders,
  quote: string,
): Promise<ShipmentJson | null> {
  const { rows } = await shipmentPage.load({ pageSize: maxPageSize.shipments });
  const readable = rows.filter(
    (row): row is ShipmentJson & { quote: string } => 'quote' in row && typeof row.quote === 'string',
  );
  const found = readable.find((row) => row.quote === quote);
  if (found !== undefined) return found;
  if (readable.length === rows.length) return null;
  throw new OutcomeUnknownError(`The shipment of ${quote} may be one of those that came without their quote`);
}
