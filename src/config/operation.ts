import { currencyCode, wholeNumber } from './setting.ts';

/** The currency, and the limits of one GraphQL operation and of its REST calls. */
export const operationSettings = {
  currency: currencyCode(
    'CURRENCY',
    'COP',
    'The currency of amounts for which the REST interface names no currency. Costs of shipments are always in Colombian pesos.',
  ),
  operationTimeoutMs: wholeNumber(
    'OPERATION_TIMEOUT_MS',
    '30000',
    [1, 3_600_000],
    'The time limit for one operation, in milliseconds. Fields without a value by then are null, with an error.',
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
