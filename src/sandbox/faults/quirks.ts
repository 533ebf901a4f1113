/** Behaviour that the REST interface does not specify, and that may differ between services. */
export interface Quirks {
  /** Lists are oldest first instead of newest first. A page token is valid for one order only. */
  oldestFirst: boolean;
  /** Orders of any status can be shipped, also repeatedly. The order names its latest shipment. */
  shipsAgain: boolean;
  /** How long reads return the old state of an order after `POST /v1/shipments`, by the sandbox's clock. */
  shipmentNamedAfterMs: number;
  /** The difference between the `date` header and the sandbox's clock. Negative if the header is behind. */
  dateOffsetMs: number;
  /** Whether responses have a `date` header. */
  hasDate: boolean;
  /** Fields that rows of a list lack, by list name such as `orders`. Reads of one record return them. */
  rowsLack: Partial<Record<string, readonly string[]>>;
  /**
   * The form of identifiers of new records and of couriers in new quotes. `mixed` identifiers also have characters
   * other than letters and digits. The quirk of the whole sandbox also applies to the seed.
   */
  identifiers: 'plain' | 'mixed';
  /** Other names of list parameters, by the names in the schemas of the routes, such as `{ pageSize: 'limit' }`. */
  parameterNames: Partial<Record<string, string>>;
  /** What becomes of a request with a query parameter that the list does not have. */
  unknownParameters: 'refused' | 'ignored';
  errorBody: 'google' | 'problem' | 'flat' | 'text';
  /** The `nextPageToken` of the last page: `""`, null, or none. */
  lastPageToken: 'empty' | 'null' | 'absent';
  /** The first part of every path, such as `/api/rest`. Only as an option of the sandbox. */
  prefix: string;
}

/** The sandbox's default behaviour. */
export const defaultQuirks: Quirks = {
  oldestFirst: false,
  shipsAgain: false,
  shipmentNamedAfterMs: 0,
  dateOffsetMs: 0,
  hasDate: true,
  rowsLack: {},
  identifiers: 'plain',
  parameterNames: {},
  unknownParameters: 'refused',
  errorBody: 'google',
  lastPageToken: 'empty',
  prefix: '',
};
