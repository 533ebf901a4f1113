import { choice, pattern, setting, text, wholeNumber, yesOrNo } from './setting.ts';

export const operationSettings = {
  operationsFile: setting(
    'OPERATIONS_FILE',
    undefined,
    text,
    'A JSON file with the only accepted documents, such as `{ "<id>": "<document>" }`. By default, every document of the schema is accepted.',
  ),
  schemaAccess: setting(
    'SCHEMA',
    'public',
    choice('public', 'private'),
    'Whether clients may explore the schema. `private` refuses introspection, serves no GraphiQL, and reveals no names of the schema in errors.',
  ),
  currency: setting(
    'CURRENCY',
    'COP',
    pattern(/^[A-Z]{3}$/, 'an ISO 4217 code of three capital letters'),
    'The currency of amounts for which the REST interface names no currency. Costs of shipments are always in Colombian pesos.',
  ),
  operationTimeoutMs: setting(
    'OPERATION_TIMEOUT_MS',
    '30000',
    wholeNumber(1, 3_600_000),
    'The time limit for one operation, in milliseconds. Fields without a value by then are null, with an error.',
  ),
  maxNodes: setting(
    'MAX_NODES',
    '3000',
    wholeNumber(1, 100_000_000),
    'The highest number of objects that an operation can return, computed with the values of its variables.',
  ),
  readsPerOperation: setting(
    'UPSTREAM_READS_PER_OPERATION',
    '250',
    wholeNumber(1, 100_000),
    'The highest number of REST reads of one operation. Fields that need further reads are null, with an error.',
  ),
  pointsPerSecond: setting(
    'RATE_LIMIT_POINTS_PER_SECOND',
    '0',
    wholeNumber(0, 1_000_000),
    'The points that each token gets per second. An operation costs its `nodes`, at least 1. A token saves the points of 10 seconds. 0 means no rate limit.',
  ),
  referenceMs: setting(
    'REFERENCE_DATA_MS',
    '60000',
    wholeNumber(0, 86_400_000),
    'How long cached reference data is fresh, in milliseconds. `0` caches none. Stale pages are served for 5 more minutes at most.',
  ),
  listsForBatches: setting(
    'UPSTREAM_LISTS_FOR_BATCHES',
    'yes',
    yesOrNo,
    'Whether Waybill may read five or more records from pages of their list. It may then also prefetch shipments together with orders.',
  ),
};
