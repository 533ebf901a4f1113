import { httpUrl, pattern, type Setting, text, wholeNumber, yesOrNo } from './setting.ts';

export const restSettings = {
  upstreamUrl: urlOrSandbox(
    'UPSTREAM_URL',
    'The base URL of the REST service. `sandbox` means the embedded sandbox. With `NODE_ENV=production` this setting is required.',
  ),
  sandboxFile: text(
    'SANDBOX_FILE',
    undefined,
    'The file in which the embedded sandbox keeps its data. By default, the data is in memory and lost at the end.',
  ),
  upstreamConnections: wholeNumber(
    'UPSTREAM_CONNECTIONS',
    '64',
    [1, 10_000],
    'The highest number of connections to REST. Connections for labels do not count.',
  ),
  upstreamTimeoutMs: wholeNumber(
    'UPSTREAM_TIMEOUT_MS',
    '10000',
    [1, 600_000],
    'The time limit for one attempt of a REST call, up to the last byte of its response, in milliseconds.',
  ),
  upstreamRetries: wholeNumber(
    'UPSTREAM_RETRIES',
    '2',
    [0, 10],
    'The highest number of retries of one REST read. All reads share a retry budget. A write that was sent is never retried.',
  ),
  upstreamCompression: yesOrNo(
    'UPSTREAM_COMPRESSION',
    'no',
    'Whether Waybill asks REST for compressed responses. Compression helps if the network to REST is slow.',
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

function urlOrSandbox(variable: string, meaning: string): Setting<URL | 'sandbox', 'sandbox'> {
  const url = httpUrl(variable, meaning);
  const expected = `"sandbox", or ${url.expected}`;
  const parse = (value: string) => (value === 'sandbox' ? value : url.parse(value));
  return { ...url, defaultValue: 'sandbox', expected, parse };
}

function parameterName(variable: string, defaultValue: string, of: string): Setting<string, string> {
  const meaning = `The name of the REST query parameter for ${of}.`;
  return pattern(variable, defaultValue, /^[\w.-]+$/, 'a name of letters, digits, ".", "_" and "-"', meaning);
}
