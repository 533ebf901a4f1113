import { origins, wholeNumber } from './setting.ts';

/** Which requests are accepted from clients. */
export const requestSettings = {
  maxBodyBytes: wholeNumber(
    'MAX_REQUEST_BYTES',
    '1048576',
    [1_024, 67_108_864],
    'The largest body that is taken from a client, in bytes.',
  ),
  corsOrigins: origins(
    'CORS_ORIGINS',
    'The origins whose pages may use this server from a browser. Absent: only its own.',
  ),
};

/** How many requests of each route run at most at the same time. */
export const loadSheddingSettings = {
  graphql: wholeNumber(
    'GRAPHQL_REQUESTS_AT_ONCE',
    '1000',
    [1, 1_000_000],
    'How many GraphQL requests run at most, until their responses are received; further requests are `OVERLOADED`.',
  ),
  label: wholeNumber(
    'LABEL_REQUESTS_AT_ONCE',
    '32',
    [1, 1_000_000],
    'The same for labels, of one token half of these. Each has a connection to REST beside `UPSTREAM_CONNECTIONS`.',
  ),
};

/** Connections of clients, and the shutdown. */
export const listenerSettings = {
  maxConnections: wholeNumber(
    'MAX_CONNECTIONS',
    '10000',
    [1, 1_000_000],
    'How many connections of clients there are at most; what lies beyond is closed at once.',
  ),
  responseTimeoutMs: milliseconds(
    'RESPONSE_TIMEOUT_MS',
    '60000',
    'How long a client may take to take its answer, and a label to come from REST',
  ),
  keepAliveTimeoutMs: milliseconds(
    'KEEP_ALIVE_TIMEOUT_MS',
    '65000',
    'How long a connection is kept without a request; longer than load balancers keep theirs, so that they close first',
  ),
  drainWaitMs: wholeNumber(
    'DRAIN_WAIT_MS',
    '0',
    [0, 600_000],
    'How long requests are still taken after a signal to end, while load balancers notice, in milliseconds.',
  ),
  drainGraceMs: wholeNumber(
    'DRAIN_GRACE_MS',
    '25000',
    [0, 3_600_000],
    'How long running requests may then take to finish, in milliseconds; what lasts longer is cut off.',
  ),
};

function milliseconds(variable: string, defaultValue: string, meaning: string) {
  return wholeNumber(variable, defaultValue, [1, 3_600_000], `${meaning}, in milliseconds.`);
}
