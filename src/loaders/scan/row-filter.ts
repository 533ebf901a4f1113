import { timeMs } from '../../base/date-time.ts';
import { InvalidResponseError } from '../../rest/errors.ts';

/** A record that a filter can match. */
export interface FilteredRow {
  name: string;
  status?: string | null | undefined;
  createTime?: string | null | undefined;
  updateTime?: string | null | undefined;
  courier?: string | null | undefined;
  shipment?: string | null | undefined;
}

/** Filters that REST does not have. Times are in milliseconds since 1970. Both bounds belong to the range. */
export interface RowFilter {
  /** Undefined: all statuses. */
  statuses?: readonly string[] | undefined;
  createdSinceMs?: number | undefined;
  createdUntilMs?: number | undefined;
  updatedSinceMs?: number | undefined;
  updatedUntilMs?: number | undefined;
  /** The resource name of a courier. */
  courier?: string | undefined;
  hasShipment?: boolean | undefined;
}

/** Whether a row matches. A row without a usable status or time matches no filter on it. */
export function matchesFilter<Row extends FilteredRow>(
  row: Row | InvalidResponseError,
  filter: RowFilter,
): row is Row {
  if (row instanceof InvalidResponseError) return false;
  const { statuses, courier, hasShipment } = filter;
  if (statuses !== undefined && !statuses.includes(row.status ?? '')) return false;
  if (courier !== undefined && row.courier !== courier) return false;
  if (hasShipment !== undefined && hasShipment !== Boolean(row.shipment)) return false;
  return (
    isWithin(row.createTime, filter.createdSinceMs, filter.createdUntilMs) &&
    isWithin(row.updateTime, filter.updatedSinceMs, filter.updatedUntilMs)
  );
}

function isWithin(time: string | null | undefined, sinceMs = -Infinity, untilMs = Infinity): boolean {
  if (sinceMs === -Infinity && untilMs === Infinity) return true;
  const ms = timeMs(time);
  return ms !== undefined && ms >= sinceMs && ms <= untilMs;
}

/** When a row was created. Undefined without a usable time. */
export function createdAtMs(row: FilteredRow | InvalidResponseError): number | undefined {
  return 'createTime' in row ? timeMs(row.createTime) : undefined;
}
