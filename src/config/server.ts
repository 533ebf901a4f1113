import { anyText, httpUrl, oneOf, wholeNumber, yesOrNo } from './setting.ts';

/** The lowest level that is logged. `silent` logs nothing. */
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;

/** The address of the server, its processes and its log. */
export const serverSettings = {
  port: wholeNumber('PORT', '4000', [0, 65_535], 'The port to listen on; `0` takes any free one.'),
  host: anyText('HOST', '127.0.0.1', 'The address to listen on; `0.0.0.0` is every one.'),
  workers: wholeNumber(
    'WORKERS',
    '1',
    [1, 256],
    'How many processes serve the port; with more than one, another one keeps them going. See [Workers](#workers).',
  ),
  publicUrl: httpUrl(
    'PUBLIC_URL',
    'How clients reach this server, for `Label.pdfUrl`. Absent: the address that it listens on.',
  ),
  showCost: yesOrNo(
    'SHOW_COST',
    undefined,
    'Whether every answer says in `extensions.upstream` what it cost. Absent: with the embedded sandbox alone.',
  ),
  logLevel: oneOf(
    'LOG_LEVEL',
    'info',
    logLevels,
    'How much the log tells; `info` has a line of each operation, `debug` of each REST call too.',
  ),
};
