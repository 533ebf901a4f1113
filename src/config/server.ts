import { isIP } from 'node:net';
import { origins } from './origins.ts';
import { choice, httpUrl, setting, text, type ValueType, wholeNumber, yesOrNo } from './setting.ts';
import { stateUrl } from './state-url.ts';

const hostName: ValueType<string> = {
  expected: 'an IP address or a host name, without scheme, port or brackets',
  parse: (value) => (isIP(value) !== 0 || /^[\w-]+(?:\.[\w-]+)*\.?$/.test(value) ? value : undefined),
};

export const serverSettings = {
  port: setting('PORT', '4000', wholeNumber(0, 65_535), 'The port of the server. `0` means any free port.'),
  host: setting(
    'HOST',
    '127.0.0.1',
    hostName,
    'The address on which the server listens. `0.0.0.0` means every IPv4 address.',
  ),
  stateFile: setting(
    'STATE_FILE',
    undefined,
    text,
    'The file for idempotency keys and locks, on a local disk, or `memory`. One process at a time uses the file. This setting or `STATE_URL` is required with `NODE_ENV=production` and a live service. By default, the keys are in memory, and lost when the server stops.',
  ),
  stateUrl: setting(
    'STATE_URL',
    undefined,
    stateUrl,
    'The PostgreSQL database for idempotency keys, locks and documents of labels. Several servers may share one database. `STATE_URL` wins over `STATE_FILE`. The tables are in the schema `waybill`, or in the schema that `?schema=` names. `sslmode` is `disable` (the default, without TLS), `require`, `verify-ca` or `verify-full`. `require` checks no certificate, `verify-ca` checks the certificate, and `verify-full` also checks the host name. `sslrootcert` is a PEM file with the certificates to trust.',
  ),
  publicUrl: setting(
    'PUBLIC_URL',
    undefined,
    httpUrl,
    'The URL at which clients reach this server. `Label.pdfUrl` and the links of documents begin with this URL. The default is the address on which the server listens.',
  ),
  showCost: setting(
    'SHOW_COST',
    undefined,
    yesOrNo,
    'Whether each response lists its REST calls in `extensions.upstream`. The default is `yes` with the embedded sandbox, else `no`.',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    choice('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
    'The lowest level of the log lines. `info` logs each operation. `debug` also logs each REST call.',
  ),
  metrics: setting(
    'METRICS',
    undefined,
    yesOrNo,
    'Whether `/metrics` is served. The default is `yes` with the embedded sandbox or with `METRICS_PORT`, else `no`.',
  ),
  metricsPort: setting(
    'METRICS_PORT',
    undefined,
    wholeNumber(0, 65_535),
    'A separate port for `/metrics` and `/health/live`, on `HOST`. `0` means any free port. By default, `PORT` serves `/metrics`.',
  ),
};

export const requestSettings = {
  corsOrigins: setting(
    'CORS_ORIGINS',
    undefined,
    origins,
    'The origins of web pages and packaged apps that may call this server from a browser or a web view. By default, only pages of this server may call it.',
  ),
  compressResponses: setting(
    'COMPRESSION',
    'yes',
    yesOrNo,
    'Whether the server compresses responses for clients that accept compression. Set `no` behind a proxy that compresses responses.',
  ),
  graphqlRequestsAtOnce: setting(
    'GRAPHQL_REQUESTS_AT_ONCE',
    '10000',
    wholeNumber(1, 1_000_000),
    'The maximum number of GraphQL requests that run or wait for their turn. One token may use at most half of this number. Tokens that the REST service has not accepted yet may together use at most three quarters. Further requests fail with `OVERLOADED`.',
  ),
  liveIntervalMs: setting(
    'LIVE_INTERVAL_MS',
    '2000',
    wholeNumber(10, 3_600_000),
    'The shortest time between two runs of a subscription, in milliseconds. While nothing changes, this time doubles up to 30 seconds. Streams of one token with the same document, variables and operation share the runs.',
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    '10000',
    wholeNumber(1, 1_000_000),
    'The maximum number of client connections. The server closes further connections immediately. All streams of subscriptions take at most half of this number. The streams of one token take at most a quarter.',
  ),
  keepAliveTimeoutMs: setting(
    'KEEP_ALIVE_TIMEOUT_MS',
    '65000',
    wholeNumber(1, 3_600_000),
    'The time after which an idle client connection is closed, in milliseconds. This time must be longer than the idle timeout of the load balancer.',
  ),
  drainWaitMs: setting(
    'DRAIN_WAIT_MS',
    '5000',
    wholeNumber(0, 600_000),
    'The time for which the server still accepts requests after SIGTERM, in milliseconds. This gives load balancers time to stop sending traffic. SIGINT skips this time.',
  ),
  drainGraceMs: setting(
    'DRAIN_GRACE_MS',
    '25000',
    wholeNumber(0, 3_600_000),
    'The time for running requests to finish after `DRAIN_WAIT_MS`, in milliseconds. After this time, the server closes all connections.',
  ),
};
