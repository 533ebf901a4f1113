import { choice, pattern, setting, text, wholeNumber, yesOrNo } from './setting.ts';

export const operationSettings = {
  operationsFile: setting(
    'OPERATIONS_FILE',
    undefined,
    text,
    'A JSON file with the trusted documents, such as `{ "<id>": "<document>" }`. The server rejects all other documents. By default, it accepts every document that is valid for the schema.',
  ),
  schemaAccess: setting(
    'SCHEMA',
    'public',
    choice('public', 'private'),
    'Whether clients may explore the schema. `private` rejects introspection, disables GraphiQL, and removes the suggestions of similar names from errors.',
  ),
  currency: setting(
    'CURRENCY',
    'COP',
    pattern(/^[A-Z]{3}$/, 'an ISO 4217 code of three capital letters'),
    'The currency of all amounts except shipping costs. Shipping costs are always in Colombian pesos.',
  ),
  operationTimeoutMs: setting(
    'OPERATION_TIMEOUT_MS',
    '30000',
    wholeNumber(1, 3_600_000),
    'The time limit for one operation, in milliseconds. Fields that are not ready by then are null, with an error.',
  ),
  maxNodes: setting(
    'MAX_NODES',
    '3000',
    wholeNumber(1, 100_000_000),
    'The maximum number of objects that an operation may return. Before an operation runs, the server computes its number of objects from the document and the variables.',
  ),
  readsPerOperation: setting(
    'UPSTREAM_READS_PER_OPERATION',
    '250',
    wholeNumber(1, 100_000),
    'The maximum number of REST reads for one operation. Fields that need more reads are null, with an error.',
  ),
  pointsPerSecond: setting(
    'RATE_LIMIT_POINTS_PER_SECOND',
    '0',
    wholeNumber(0, 1_000_000),
    'The points that each token gets per second. An operation costs one point for each object that `MAX_NODES` counts, and at least one point. A token can save the unused points of at most 10 seconds. `0` means no rate limit.',
  ),
  referenceMs: setting(
    'REFERENCE_DATA_MS',
    '60000',
    wholeNumber(0, 86_400_000),
    'The time for which cached origins, locations, channels and templates are fresh, in milliseconds. After this time, Waybill still serves the old data for at most 5 minutes, and reads new data in the background. `0` disables the cache.',
  ),
  listsForBatches: setting(
    'UPSTREAM_LISTS_FOR_BATCHES',
    'yes',
    yesOrNo,
    'Whether Waybill may read five or more records from list pages instead of one by one. With `yes`, Waybill may also request a page of shipments at the same time as a page of orders.',
  ),
};
