import { choice, httpUrl, type Kind, setting, text, wholeNumber, yesOrNo } from './setting.ts';

const origins: Kind<readonly string[]> = {
  expected: 'origins such as https://shop.example, with commas between them',
  parse(value) {
    const list = value.split(',').map((origin) => origin.trim());
    return list.every(isOrigin) ? Object.freeze(list) : undefined;
  },
};

export const serverSettings = {
  port: setting('PORT', '4000', wholeNumber(0, 65_535), 'The port of the server. `0` means any free port.'),
  host: setting(
    'HOST',
    '127.0.0.1',
    text,
    'The address on which the server listens. `0.0.0.0` means every IPv4 address.',
  ),
  workers: setting(
    'WORKERS',
    '1',
    wholeNumber(1, 256),
    'The number of processes that serve the port. With more than one, a further process starts and replaces them.',
  ),
  stateFile: setting(
    'STATE_FILE',
    undefined,
    text,
    'The file of idempotency keys and locks, on a local disk, or `memory`. With `NODE_ENV=production` and a live service this setting is required. By default, the keys are in memory and lost at the end.',
  ),
  publicUrl: setting(
    'PUBLIC_URL',
    undefined,
    httpUrl,
    'The URL at which clients reach this server. `Label.pdfUrl` begins with this URL. By default, it is the address of the listener.',
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
    'A separate port for `/metrics` alone, on `HOST`. `0` means any free port. By default, `/metrics` is on `PORT`.',
  ),
};

export const requestSettings = {
  corsOrigins: setting(
    'CORS_ORIGINS',
    undefined,
    origins,
    'The origins whose pages may call this server from a browser. By default, only pages of this server may.',
  ),
  compressResponses: setting(
    'COMPRESSION',
    'yes',
    yesOrNo,
    'Whether responses are compressed for clients that accept it. `no` is for servers behind a proxy that compresses.',
  ),
  graphqlRequestsAtOnce: setting(
    'GRAPHQL_REQUESTS_AT_ONCE',
    '1000',
    wholeNumber(1, 1_000_000),
    'The highest number of GraphQL requests at the same time. A request counts until its response is sent. One token gets at most half. Tokens that REST has not accepted together get three quarters. Further requests get `OVERLOADED`.',
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    '10000',
    wholeNumber(1, 1_000_000),
    'The highest number of client connections. The server closes further connections at once.',
  ),
  keepAliveTimeoutMs: setting(
    'KEEP_ALIVE_TIMEOUT_MS',
    '65000',
    wholeNumber(1, 3_600_000),
    'The time after which an idle client connection is closed, in milliseconds. It must be longer than the idle timeout of the load balancer.',
  ),
  drainWaitMs: setting(
    'DRAIN_WAIT_MS',
    '5000',
    wholeNumber(0, 600_000),
    'The time in which the server still accepts requests after SIGTERM, in milliseconds. Load balancers need this time to notice. SIGINT skips it.',
  ),
  drainGraceMs: setting(
    'DRAIN_GRACE_MS',
    '25000',
    wholeNumber(0, 3_600_000),
    'The time in which running requests may then finish, in milliseconds. After this time the server closes all connections.',
  ),
};

/** As browsers send it: no path, no final slash, no default port. */
function isOrigin(origin: string): boolean {
  return /^https?:/.test(origin) && URL.parse(origin)?.origin === origin;
}
