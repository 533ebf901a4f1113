import { oneOf, pattern, text, wholeNumber, yesOrNo } from './setting.ts';

export const documentSettings = {
  operationsFile: text(
    'OPERATIONS_FILE',
    undefined,
    'A JSON file with the only accepted documents, such as `{ "<id>": "<document>" }`. By default, every document of the schema is accepted.',
  ),
  schemaAccess: oneOf(
    'SCHEMA',
    'public',
    ['public', 'private'],
    'Whether clients may explore the schema. `private` refuses introspection, serves no GraphiQL, and reveals no names of the schema in errors.',
  ),
};

export const operationSettings = {
  currency: pattern(
    'CURRENCY',
    'COP',
    /^[A-Z]{3}$/,
    'an ISO 4217 code of three capital letters',
    'The currency of amounts for which the REST interface names no currency. Costs of shipments are always in Colombian pesos.',
  ),
  operationTimeoutMs: wholeNumber(
    'OPERATION_TIMEOUT_MS',
    '30000',
    [1, 3_600_000],
    'The time limit for one operation, in milliseconds. Fields without a value by then are null, with an error.',
  ),
  maxNodes: wholeNumber(
    'MAX_NODES',
    '3000',
    [1, 100_000_000],
    'The highest number of objects that an operation can return, computed with the values of its variables.',
  ),
  readsPerOperation: wholeNumber(
    'UPSTREAM_READS_PER_OPERATION',
    '250',
    [1, 100_000],
    'The highest number of REST reads of one operation. Fields that need further reads are null, with an error.',
  ),
  pointsPerSecond: wholeNumber(
    'RATE_LIMIT_POINTS_PER_SECOND',
    '0',
    [0, 1_000_000],
    'The points that each token gets per second. An operation costs its `nodes`, at least 1. A token saves the points of 10 seconds. 0 means no rate limit.',
  ),
};

export const loadingSettings = {
  referenceMs: wholeNumber(
    'REFERENCE_DATA_MS',
    '60000',
    [0, 86_400_000],
    'How long cached reference data is fresh, in milliseconds. `0` caches none. Stale pages are served for 5 more minutes at most.',
  ),
  listsForBatches: yesOrNo(
    'UPSTREAM_LISTS_FOR_BATCHES',
    'yes',
    'Whether Waybill may read five or more records from pages of their list. It may then also prefetch shipments together with orders.',
  ),
};
