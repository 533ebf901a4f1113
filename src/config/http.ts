import { origins, wholeNumber, yesOrNo } from './setting.ts';

/** Which requests are accepted from clients. */
export const requestSettings = {
  maxBodyBytes: wholeNumber(
    'MAX_REQUEST_BYTES',
    '1048576',
    [1_024, 67_108_864],
    'The largest accepted body of a request, in bytes.',
  ),
  corsOrigins: origins(
    'CORS_ORIGINS',
    'The origins whose pages may call this server from a browser. By default, only pages of this server may.',
  ),
  compressResponses: yesOrNo(
    'COMPRESSION',
    'yes',
    'Whether responses are compressed for clients that accept it. `no` is for servers behind a proxy that compresses.',
  ),
};

/** How many requests of each route run at most at the same time. */
export const loadSheddingSettings = {
  graphql: wholeNumber(
    'GRAPHQL_REQUESTS_AT_ONCE',
    '1000',
    [1, 1_000_000],
    'The highest number of GraphQL requests at the same time. A request counts until its response is sent. One token gets at most half. Further requests get `OVERLOADED`.',
  ),
  label: wholeNumber(
    'LABEL_REQUESTS_AT_ONCE',
    '32',
    [1, 1_000_000],
    'The highest number of label requests at the same time. One token gets at most half. Further requests wait for up to 10 seconds. Their REST connections are not part of `UPSTREAM_CONNECTIONS`.',
  ),
};

/** Connections of clients, and the shutdown. */
export const listenerSettings = {
  maxConnections: wholeNumber(
    'MAX_CONNECTIONS',
    '10000',
    [1, 1_000_000],
    'The highest number of client connections. The server closes further connections at once.',
  ),
  responseTimeoutMs: wholeNumber(
    'RESPONSE_TIMEOUT_MS',
    '60000',
    [1, 3_600_000],
    'The time in which a client must read response bytes that wait, in milliseconds. It is also the time limit for the body of a label.',
  ),
  keepAliveTimeoutMs: wholeNumber(
    'KEEP_ALIVE_TIMEOUT_MS',
    '65000',
    [1, 3_600_000],
    'The time after which an idle client connection is closed, in milliseconds. It must be longer than the idle timeout of the load balancer.',
  ),
  drainWaitMs: wholeNumber(
    'DRAIN_WAIT_MS',
    '5000',
    [0, 600_000],
    'The time in which the server still accepts requests after SIGTERM, in milliseconds. Load balancers need this time to notice. SIGINT skips it.',
  ),
  drainGraceMs: wholeNumber(
    'DRAIN_GRACE_MS',
    '25000',
    [0, 3_600_000],
    'The time in which running requests may then finish, in milliseconds. After this time the server closes all connections.',
  ),
};
