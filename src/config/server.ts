import { httpUrl, oneOf, type Setting, text, wholeNumber, yesOrNo } from './setting.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;

export const serverSettings = {
  port: wholeNumber('PORT', '4000', [0, 65_535], 'The port of the server. `0` means any free port.'),
  host: text(
    'HOST',
    '127.0.0.1',
    'The address on which the server listens. `0.0.0.0` means every IPv4 address.',
  ),
  workers: wholeNumber(
    'WORKERS',
    '1',
    [1, 256],
    'The number of processes that serve the port. With more than one, a further process starts and replaces them.',
  ),
  stateFile: text(
    'STATE_FILE',
    undefined,
    'The file of idempotency keys and locks, on a local disk, or `memory`. With `NODE_ENV=production` and a live service this setting is required. By default, the keys are in memory and lost at the end.',
  ),
  publicUrl: httpUrl(
    'PUBLIC_URL',
    'The URL at which clients reach this server. `Label.pdfUrl` begins with this URL. By default, it is the address of the listener.',
  ),
  showCost: yesOrNo(
    'SHOW_COST',
    undefined,
    'Whether each response lists its REST calls in `extensions.upstream`. The default is `yes` with the embedded sandbox, else `no`.',
  ),
  logLevel: oneOf(
    'LOG_LEVEL',
    'info',
    logLevels,
    'The lowest level of the log lines. `info` logs each operation. `debug` also logs each REST call.',
  ),
};

export const requestSettings = {
  corsOrigins: origins(
    'CORS_ORIGINS',
    'The origins whose pages may call this server from a browser. By default, only pages of this server may.',
  ),
  compressResponses: yesOrNo(
    'COMPRESSION',
    'yes',
    'Whether responses are compressed for clients that accept it. `no` is for servers behind a proxy that compresses.',
  ),
  graphqlRequestsAtOnce: wholeNumber(
    'GRAPHQL_REQUESTS_AT_ONCE',
    '1000',
    [1, 1_000_000],
    'The highest number of GraphQL requests at the same time. A request counts until its response is sent. One token gets at most half. Tokens that REST has not accepted together get three quarters. Further requests get `OVERLOADED`.',
  ),
  maxConnections: wholeNumber(
    'MAX_CONNECTIONS',
    '10000',
    [1, 1_000_000],
    'The highest number of client connections. The server closes further connections at once.',
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

export const metricsSettings = {
  metrics: yesOrNo(
    'METRICS',
    undefined,
    'Whether `/metrics` is served. The default is `yes` with the embedded sandbox or with `METRICS_PORT`, else `no`.',
  ),
  metricsPort: wholeNumber(
    'METRICS_PORT',
    undefined,
    [0, 65_535],
    'A separate port for `/metrics` alone, on `HOST`. `0` means any free port. By default, `/metrics` is on `PORT`.',
  ),
};

function origins(variable: string, meaning: string): Setting<readonly string[], undefined> {
  const expected = 'origins such as https://shop.example, with commas between them';
  const parse = (value: string) => {
    const list = value.split(',').map((origin) => origin.trim());
    return list.every(isOrigin) ? Object.freeze(list) : undefined;
  };
  return { variable, defaultValue: undefined, meaning, expected, parse };
}

/** Returns whether the text is an origin as browsers send it: no path, no final slash, no default port. */
function isOrigin(origin: string): boolean {
  return /^https?:/.test(origin) && URL.parse(origin)?.origin === origin;
}
