import {
  anyText,
  type Environment,
  httpUrl,
  parameterName,
  type Setting,
  wholeNumber,
  yesOrNo,
} from './setting.ts';

/** The address of the REST service, or the file of the embedded sandbox. */
export const upstreamSettings = {
  upstreamUrl: urlOrSandbox(
    'UPSTREAM_URL',
    'The base URL of the REST service. `sandbox` means the embedded sandbox. With `NODE_ENV=production` this setting is required.',
  ),
  sandboxFile: anyText(
    'SANDBOX_FILE',
    undefined,
    'The file in which the embedded sandbox keeps its data. By default, the data is in memory and lost at the end.',
  ),
};

/** The names of query parameters, which the REST interface does not document ("List query parameters"). */
export const parameterNameSettings = {
  pageSize: parameterName('PAGE_SIZE_PARAMETER', 'pageSize', 'the page size'),
  pageToken: parameterName('PAGE_TOKEN_PARAMETER', 'pageToken', 'the page token'),
  status: parameterName('STATUS_PARAMETER', 'status', 'the status filter of orders'),
  search: parameterName('SEARCH_PARAMETER', 'search', 'the search text of orders'),
  query: parameterName('QUERY_PARAMETER', 'query', 'the text filter of locations'),
};

/** Connections to REST, and limits of one REST call. */
export const restSettings = {
  connections: wholeNumber(
    'UPSTREAM_CONNECTIONS',
    '64',
    [1, 10_000],
    'The highest number of connections to REST. Connections for labels do not count.',
  ),
  callTimeoutMs: wholeNumber(
    'UPSTREAM_TIMEOUT_MS',
    '10000',
    [1, 600_000],
    'The time limit for one attempt of a REST call, up to the last byte of its response, in milliseconds.',
  ),
  retries: wholeNumber(
    'UPSTREAM_RETRIES',
    '2',
    [0, 10],
    'The highest number of retries of one REST read. All reads share a retry budget. A write that was sent is never retried.',
  ),
  compression: yesOrNo(
    'UPSTREAM_COMPRESSION',
    'no',
    'Whether Waybill asks REST for compressed responses. Compression helps if the network to REST is slow.',
  ),
};

function urlOrSandbox(variable: string, meaning: string): Setting<URL | 'sandbox', 'sandbox'> {
  const url = httpUrl(variable, meaning);
  return {
    ...url,
    defaultValue: 'sandbox',
    expected: `"sandbox", or ${url.expected}`,
    parse: (text) => (text === 'sandbox' ? text : url.parse(text)),
  };
}

/** Returns an error if production would use the sandbox by default: the sandbox's access tokens are public. */
export function upstreamErrors(environment: Environment): string[] {
  const { variable } = upstreamSettings.upstreamUrl;
  if (environment.NODE_ENV !== 'production' || environment[variable]) return [];
  return [
    `${variable}: expected the address of the REST service where NODE_ENV is "production", or "sandbox" for the embedded sandbox, but got none.`,
  ];
}
