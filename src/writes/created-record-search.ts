import { type Loaders, maxPageSize } from '../loaders/loaders.ts';
import { allRecords } from '../loaders/paging/page-walk.ts';
import { createAgeCheck } from '../loaders/scan/list-sequence.ts';
import { createdAtMs } from '../loaders/scan/row-filter.ts';
import { type ReadPages, sharedReadings } from '../loaders/scan/shared-readings.ts';
import type { RestApi } from '../rest/api.ts';
import type { CreateOrderJson } from '../rest/api-types.ts';
import type { CallContext } from '../rest/client/call-context.ts';
import { ScanBudgetExceededError } from '../rest/client/scan-budget.ts';
import {
  InvalidResponseError,
  isConflict,
  isNotFound,
  isRejectedInput,
  OutcomeUnknownError,
} from '../rest/errors.ts';
import { isSameName } from '../rest/repeated-names.ts';
import type { OrderJson, ShipmentJson } from '../rest/wire-schema.ts';
import { EarlierAttemptUnknownError } from './errors.ts';

// Searches of REST's lists for the record that a write without a response may have created.

/**
 * Runs `find`, which looks for such a record. A search that cannot be done says nothing about the record.
 * @throws EarlierAttemptUnknownError if REST rejects the search or sends an invalid response, or if the operation may scan
 * no further page. Also the other errors of `find`.
 */
export async function findOrUnknown<Found>(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    const isRejected = isRejectedInput(error) || isNotFound(error) || isConflict(error);
    const isCutShort = error instanceof ScanBudgetExceededError;
    // Other errors are about the access token, a rate limit or the network.
    if (isRejected || isCutShort || error instanceof InvalidResponseError)
      throw new EarlierAttemptUnknownError('An earlier attempt got no response', { cause: error });
    throw error instanceof OutcomeUnknownError ? new EarlierAttemptUnknownError(error.message, error) : error;
  }
}

/** REST reports its clock in whole seconds, and it may also round down the `createTime` of a new record. */
const slackMs = 2_000;

/** By its own clock, REST creates the record of a write that is sent now no earlier. Undefined without that clock. */
export function earliestCreation({ serviceTime }: RestApi): number | undefined {
  const nowMs = serviceTime();
  return nowMs === undefined ? undefined : nowMs - slackMs;
}

/**
 * What a search for the order of a write found: the one order with the sent fields that is not older than the attempt.
 * Otherwise `older` if all orders with the reference are older, `none` if there are none, and `unclear` if an order may be the
 * one, or if REST's clock is unknown.
 */
export type OrderSearch = OrderJson | 'older' | 'none' | 'unclear';

export function isOrder(found: OrderSearch): found is OrderJson {
  return typeof found === 'object';
}

/** Looks for the order of a write by its reference. */
export async function findCreatedOrder(
  { orderPage }: Loaders,
  sentOrder: CreateOrderJson,
  earliestMs: number | undefined,
): Promise<OrderSearch> {
  if (earliestMs === undefined) return 'unclear';
  const { referenceId } = sentOrder;
  const found = await allRecords(orderPage, { search: referenceId });
  const fields = comparableFields(sentOrder);
  const [match, ...others] = found.filter(
    (order) => (createdAtMs(order) ?? 0) >= earliestMs && includesFields(order, fields),
  );
  if (match !== undefined && others.length === 0) return match;
  // The search also finds orders by names. An order may come without its reference.
  const mayBeIt = (order: OrderJson) => (order.referenceId ?? referenceId) === referenceId;
  if (found.some((order) => mayBeIt(order) && !isOlder(order, earliestMs))) return 'unclear';
  return found.some((order) => order.referenceId === referenceId) ? 'older' : 'none';
}

/** Returns the sent fields, without fields that may have changed since or that REST returns in another form. */
function comparableFields({ status: _status, referenceUrl: _url, recipient, ...order }: CreateOrderJson) {
  const { documentType: _type, document: _document, address, ...person } = recipient;
  return { ...order, recipient: { ...person, address: { addressLines: address.addressLines } } };
}

/** Returns whether `value` has all fields of `expected` with equal values, at any depth. Other fields are ignored. */
function includesFields(value: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return value === expected;
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return Object.entries(expected).every(([name, part]) => includesFields(fields.get(name), part));
}

export type ShipmentRow = ShipmentJson | InvalidResponseError;

/**
 * Makes the readings of the list of shipments for the searches of one operation. A batch of lost writes shares them. They
 * bypass the loaders, which would cache each page.
 */
export function shipmentReadings(
  { listShipments }: Pick<RestApi, 'listShipments'>,
  callContext: CallContext,
): ReadPages<ShipmentJson> {
  return sharedReadings<ShipmentJson>({
    load: (query) => listShipments(query, callContext),
    loadFurther: (query) => callContext.scanBudget.readInTurn(() => listShipments(query, callContext)),
    clearAll: () => {},
    maxPageSize: maxPageSize.shipments,
  });
}

/** Returns the shipment of one of the quotes, or null, as `findShipment` says. */
export function findCreatedShipment(
  readShipments: ReadPages<ShipmentJson>,
  quotes: readonly string[],
  earliestMs: number,
): Promise<ShipmentJson | null> {
  const isIt = (row: ShipmentRow): row is ShipmentJson =>
    quotes.some((quote) => isSameName('quotes', quote, quoteOf(row)));
  return findShipment(readShipments, async (rows) => rows.find(isIt), earliestMs);
}

/**
 * Returns the first shipment that `pick` chooses from a page of the list, or null. Reads all pages of the list, because
 * the interface documents no order of rows, but stops after sorted rows older than the attempt.
 * @param earliestMs -Infinity if the time of the attempt by REST's clock is unknown: then all pages are read.
 * @throws OutcomeUnknownError if REST sent a row without its quote that may be the shipment, and InvalidResponseError
 * if the list has no end.
 */
export async function findShipment(
  readShipments: ReadPages<ShipmentJson>,
  pick: (rows: readonly ShipmentRow[]) => Promise<ShipmentJson | undefined>,
  earliestMs: number,
): Promise<ShipmentJson | null> {
  // One page of up to 1,000 rows shows how the list is sorted.
  const areLaterRowsOlder = createAgeCheck(earliestMs, 1);
  let found: ShipmentJson | undefined;
  let hasRowWithoutQuote = false;
  await readShipments(async (rows) => {
    found = await pick(rows);
    if (found !== undefined) return true;
    hasRowWithoutQuote ||= rows.some((row) => quoteOf(row) === undefined && !isOlder(row, earliestMs));
    return areLaterRowsOlder(rows);
  });
  if (found !== undefined) return found;
  if (!hasRowWithoutQuote) return null;
  throw new OutcomeUnknownError(
    'The REST service sent a shipment without a quote, and this may be the shipment of the earlier attempt',
  );
}

/** The quote that a row names. */
export function quoteOf(row: ShipmentRow): string | undefined {
  return 'quote' in row && typeof row.quote === 'string' && row.quote !== '' ? row.quote : undefined;
}

/** Whether a row was created before this time. False without a usable time. */
export function isOlder(row: ShipmentRow | OrderJson, earliestMs: number): boolean {
  const createdMs = createdAtMs(row);
  return createdMs !== undefined && createdMs < earliestMs;
}
