import {
  httpUrl,
  pattern,
  type Setting,
  setting,
  text,
  type ValueType,
  wholeNumber,
  yesOrNo,
} from './setting.ts';

const urlOrSandbox: ValueType<URL | 'sandbox'> = {
  expected: `"sandbox", or ${httpUrl.expected}`,
  parse: (value) => (value === 'sandbox' ? value : httpUrl.parse(value)),
};

const parameter = pattern(/^[\w.-]+$/, 'a name of letters, digits, ".", "_" and "-"');

export const restSettings = {
  upstreamUrl: setting(
    'UPSTREAM_URL',
    'sandbox',
    urlOrSandbox,
    'The base URL of the REST service. `sandbox` means the embedded sandbox. This setting is required with `NODE_ENV=production`, and with a `HOST` that other machines reach.',
  ),
  sandboxFile: setting(
    'SANDBOX_FILE',
    undefined,
    text,
    'The file in which the embedded sandbox keeps its data. By default, the data is in memory, and lost when the server stops.',
  ),
  upstreamConnections: setting(
    'UPSTREAM_CONNECTIONS',
    '64',
    wholeNumber(1, 10_000),
    'The maximum number of connections to the REST service. Connections for labels do not count.',
  ),
  upstreamTimeoutMs: setting(
    'UPSTREAM_TIMEOUT_MS',
    '10000',
    wholeNumber(1, 600_000),
    'The time limit for one attempt of a REST call, in milliseconds. An attempt ends with the last byte of the response.',
  ),
  upstreamRetries: setting(
    'UPSTREAM_RETRIES',
    '2',
    wholeNumber(0, 10),
    'The maximum number of retries of one REST read. All reads share a retry budget. A write is never retried after it was sent.',
  ),
  upstreamCompression: setting(
    'UPSTREAM_COMPRESSION',
    'no',
    yesOrNo,
    'Whether Waybill requests compressed responses from the REST service. Compression helps if the network to the REST service is slow.',
  ),
};

/** The REST interface does not document these names ("List query parameters"). */
export const parameterNameSettings = {
  pageSizeParameter: parameterName('PAGE_SIZE_PARAMETER', 'pageSize', 'the page size'),
  pageTokenParameter: parameterName('PAGE_TOKEN_PARAMETER', 'pageToken', 'the page token'),
  statusParameter: parameterName('STATUS_PARAMETER', 'status', 'the status filter of orders'),
  searchParameter: parameterName('SEARCH_PARAMETER', 'search', 'the search text of orders'),
  queryParameter: parameterName('QUERY_PARAMETER', 'query', 'the text filter of locations'),
};

function parameterName(variable: string, defaultValue: string, of: string): Setting<string, string> {
  return setting(variable, defaultValue, parameter, `The name of the REST query parameter for ${of}.`);
}
