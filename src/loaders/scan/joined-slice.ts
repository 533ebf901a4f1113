import type { OrderJson } from '../../rest/wire-schema.ts';
import type { Position } from '../paging/cursor.ts';
import type { PageSlice, PlacedRow } from '../paging/page-slice.ts';
import { indexAfter, positionAfter, type ReadPage } from '../paging/page-walk.ts';
import type { ListScan } from './list-scan.ts';
import { createAgeCheck } from './list-sequence.ts';
import { matchesFilter, type RowFilter } from './row-filter.ts';
import type { ShipmentJoin } from './shipment-join.ts';

/** A filter of orders that also names the statuses of their shipments. */
export interface JoinedFilter extends RowFilter {
  shipmentStatuses: readonly string[];
}

/**
 * Like `readFilteredSlice`, for orders with a shipment in certain statuses. An order whose shipment can't be read is an
 * error in its place. Where the operation may read no more shipments, the slice ends before the first unknown one.
 * @throws InvalidResponseError if a list has no end. Errors of pages are passed on.
 */
export function readJoinedSlice(
  scan: ListScan<OrderJson>,
  filter: JoinedFilter,
  first: number,
  join: ShipmentJoin,
): Promise<PageSlice<OrderJson>> {
  const rows: PlacedRow<OrderJson>[] = [];
  const areLaterRowsOlder = createAgeCheck(filter.createdSinceMs);
  return scan(Math.max(5 * first, 100), async (next) => {
    if ('endPosition' in next)
      return { rows, hasNextPage: true, endPosition: withJoined(next.endPosition, join) };
    // Of no rows, the first match tells whether there are any.
    const { matches, ...end } = await findMatches(next, filter, Math.max(first, 1) - rows.length, join);
    if (first === 0 && matches.length > 0) return { rows, hasNextPage: true };
    rows.push(...matches);
    const orders = matches.flatMap(({ row }) => (row instanceof Error ? [] : row));
    next.prime(orders);
    join.prime(orders);
    if (end.isCutShort) return { rows, hasNextPage: true, ...end };
    if (areLaterRowsOlder(next.page.rows)) return { rows, hasNextPage: false };
    const hasNextPage = next.page.nextPageToken !== undefined;
    const isFull = first > 0 && rows.length === first;
    return isFull || !hasNextPage ? { rows, hasNextPage } : undefined;
  });
}

interface Candidate {
  order: OrderJson;
  index: number;
}

/**
 * Reads shipments until `wanted` orders of the page match, or the shipments of all its candidates are known. Candidates are
 * the orders that match but for their shipment.
 * @returns `isCutShort`: candidates are left. Without an `endPosition`, they follow the last match.
 */
async function findMatches(
  { page, position }: ReadPage<OrderJson>,
  filter: JoinedFilter,
  wanted: number,
  join: ShipmentJoin,
): Promise<{ matches: PlacedRow<OrderJson>[]; isCutShort: boolean; endPosition?: Position }> {
  const start = indexAfter(page, position) ?? 0;
  const candidates = page.rows.flatMap((order, index): Candidate[] =>
    index >= start && matchesFilter(order, { ...filter, hasShipment: true }) ? [{ order, index }] : [],
  );
  const matches: PlacedRow<OrderJson>[] = [];
  const placeAfter = (index: number) => (index < 0 ? position : positionAfter(page, index, position));
  for (const [number, { order, index }] of candidates.entries()) {
    if (matches.length === wanted) return { matches, isCutShort: true };
    let status = join.statusOf(order);
    while (status === undefined) {
      const unknown = unknownOrders(candidates.slice(number), filter, wanted - matches.length, join);
      if (!(await join.readMore(unknown)))
        return { matches, isCutShort: true, endPosition: withJoined(placeAfter(index - 1), join) };
      status = join.statusOf(order);
    }
    const isMatch = status instanceof Error || filter.shipmentStatuses.includes(status);
    const row = status instanceof Error ? status : order;
    if (isMatch) matches.push({ row, after: withJoined(placeAfter(index), join) });
  }
  return { matches, isCutShort: false };
}

/** The orders whose shipments may be needed: those with an unknown shipment, up to the match number `wanted`. */
function unknownOrders(
  candidates: readonly Candidate[],
  { shipmentStatuses }: JoinedFilter,
  wanted: number,
  join: ShipmentJoin,
): OrderJson[] {
  const unknown: OrderJson[] = [];
  let matches = 0;
  for (const { order } of candidates) {
    const status = join.statusOf(order);
    if (status === undefined) unknown.push(order);
    else if (status instanceof Error || shipmentStatuses.includes(status)) matches += 1;
    if (matches === wanted) break;
  }
  return unknown;
}

/** A position that also says where the shipments are read on. */
function withJoined(place: Position, { position: joined }: ShipmentJoin): Position {
  return joined === undefined ? place : { ...place, joined };
}
