import { currencyCode, wholeNumber } from './setting.ts';

/** The currency, and the limits of one GraphQL operation and of its REST calls. */
export const operationSettings = {
  currency: currencyCode('CURRENCY', 'COP', 'The currency of money for which the REST interface names none.'),
  operationTimeoutMs: wholeNumber(
    'OPERATION_TIMEOUT_MS',
    '30000',
    [1, 3_600_000],
    'How long one operation may take, in milliseconds; what is not there by then is null, with an error.',
  ),
  callsPerOperation: wholeNumber(
    'UPSTREAM_CALLS_PER_OPERATION',
    '64',
    [1, 1_000],
    'How many REST calls of one operation run at most at the same time.',
  ),
  readsPerOperation: wholeNumber(
    'UPSTREAM_READS_PER_OPERATION',
    '250',
    [1, 100_000],
    'How many REST reads one operation makes at most; what lies beyond is null, with an error.',
  ),
  callsWaiting: wholeNumber(
    'UPSTREAM_QUEUE',
    '1000',
    [1, 1_000_000],
    'How many REST calls wait at most while all connections are taken, of one token half of these; others are refused.',
  ),
  idempotencyKeys: wholeNumber(
    'IDEMPOTENCY_KEYS',
    '20000',
    [1, 10_000_000],
    'How many idempotency keys are remembered at most, each for 24 hours; the oldest are forgotten first.',
  ),
};
