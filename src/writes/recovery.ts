import { type Loaders, maxPageSize } from '../loaders/loaders.ts';
import { allRecords, pagesFrom } from '../loaders/paging/page-loader.ts';
import type { RestApi } from '../rest/api.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import {
  InvalidResponseError,
  isConflict,
  isNotFound,
  isRejectedInput,
  OutcomeUnknownError,
} from '../rest/errors.ts';
import type { CreateOrderJson } from '../rest/types.ts';
import type { OrderJson, ShipmentJson } from '../rest/wire-schema.ts';
import { creationTime } from './attempt.ts';

/**
 * Looks for what an earlier attempt without an answer has done. Where REST refuses to be asked, or answers what can't be
 * read, that says nothing of the attempt: its outcome stays unknown.
 */
export async function withRecovery<Found>(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!isOfRequest(error)) throw error;
    throw new OutcomeUnknownError('An earlier attempt got no answer', { cause: error });
  }
}

/** Whether REST found fault with what it was asked, or answered something else, rather than with who asked or how often. */
function isOfRequest(error: unknown): boolean {
  return (
    isRejectedInput(error) || isNotFound(error) || isConflict(error) || error instanceof InvalidResponseError
  );
}

/**
 * From when on the REST service may have created what is looked for, in milliseconds since 1970 by its own clock; undefined
 * where that is not known. Asked after each answer, which may be the first that tells the clock.
 */
export type Since = () => number | undefined;

/**
 * The order that an attempt without an answer has created after all, or null where it can't be told: the one order with the
 * same reference, with everything else as it was sent, and created since the attempt. Where there are several, another
 * attempt may have made them.
 */
export async function findCreatedOrder(
  { orderPage }: Loaders,
  wanted: CreateOrderJson,
  since: Since,
): Promise<OrderJson | null> {
  const { referenceId } = wanted;
  if (referenceId === undefined || referenceId === '') return null;
  const found = await allRecords(orderPage, { search: referenceId, pageSize: maxPageSize.orders });
  const earliest = since();
  if (earliest === undefined) return null;
  const fitting = found.filter(
    (order) => (creationTime(order) ?? 0) >= earliest && holds(order, asRecorded(wanted)),
  );
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

type ShipmentRow = ShipmentJson | InvalidResponseError;

/**
 * The shipment of one of these quotes, or null where there is none. Reads the list to its end, unless the rows themselves
 * show that it comes newest first and that older ones follow. Reads past the loaders, which would keep every page.
 * @throws OutcomeUnknownError where it may be one that came without its quote, and InvalidResponseError where the list has
 * no end.
 */
export async function findCreatedShipment(
  { listShipments }: Pick<RestApi, 'listShipments'>,
  callContext: CallContext,
  quotes: readonly string[],
  since: Since,
): Promise<ShipmentJson | null> {
  const pages = pagesFrom<ShipmentJson, { pageSize: number; pageToken?: string | undefined }>(
    { load: (query) => listShipments(query, callContext) },
    { pageSize: maxPageSize.shipments },
  );
  let hasUntold = false;
  for await (const { rows } of pages) {
    const found = rows.find((row): row is ShipmentJson => quotes.includes(quoteOf(row) ?? ''));
    if (found !== undefined) return found;
    const earliest = since();
    hasUntold ||= rows.some((row) => quoteOf(row) === undefined && !isOlder(row, earliest));
    if (isNewestFirst(rows) && isOlder(rows.at(-1), earliest)) break;
  }
  if (!hasUntold) return null;
  throw new OutcomeUnknownError('The shipment may be one of those that came without their quote');
}

function quoteOf(row: ShipmentRow): string | undefined {
  return 'quote' in row && typeof row.quote === 'string' ? row.quote : undefined;
}

function isOlder(row: ShipmentRow | undefined, earliest: number | undefined): boolean {
  const created = createdAt(row);
  return created !== undefined && earliest !== undefined && created < earliest;
}

// A few rows in no order may look as if they were in one.
const minRowsInOrder = 10;

/** Whether each row is as old as the one before or older, and not all are of the same age. */
function isNewestFirst(rows: readonly ShipmentRow[]): boolean {
  if (rows.length < minRowsInOrder) return false;
  const times = rows.map(createdAt);
  const isInOrder = times.every((time, index) => time !== undefined && time <= (times[index - 1] ?? time));
  return isInOrder && times.at(0) !== times.at(-1);
}

function createdAt(row: ShipmentRow | undefined): number | undefined {
  return row === undefined || row instanceof InvalidResponseError ? undefined : creationTime(row);
}
