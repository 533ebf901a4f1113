/** What the REST interface leaves open, and other services of it do otherwise. */
export interface Quirks {
  /** Every list comes oldest first. A page token of one order is refused in the other. */
  oldestFirst: boolean;
  /** An order of any status is shipped, and shipped again. It then names its latest shipment. */
  shipsAgain: boolean;
  /** For so long after `POST /v1/shipments`, by the sandbox's clock, its order is read as it was before. */
  shipmentNamedAfterMs: number;
  /** How far the `date` header is from the sandbox's clock; negative for behind it. */
  dateOffsetMs: number;
  /** Whether answers have a `date` header. */
  hasDate: boolean;
  /** By the name of a list, such as `orders`, the fields that its rows lack. The record itself has them. */
  rowsLack: Partial<Record<string, readonly string[]>>;
  /**
   * The alphabet of the identifiers of new records, and of the couriers in new quotes: `mixed` goes beyond letters and
   * digits. As a standing quirk it also renames the seed.
   */
  identifiers: 'plain' | 'mixed';
}

/** The sandbox's own ways. */
export const usualQuirks: Quirks = {
  oldestFirst: false,
  shipsAgain: false,
  shipmentNamedAfterMs: 0,
  dateOffsetMs: 0,
  hasDate: true,
  rowsLack: {},
  identifiers: 'plain',
};
