import { anyText, httpUrl, oneOf, wholeNumber, yesOrNo } from './setting.ts';

/** The lowest level that is logged. `silent` logs nothing. */
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;

/** The address of the server, its processes and its log. */
export const serverSettings = {
  port: wholeNumber('PORT', '4000', [0, 65_535], 'The port of the server. `0` means any free port.'),
  host: anyText(
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
  stateFile: anyText(
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
