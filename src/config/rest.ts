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
    'The base address of the REST service; `sandbox` is the embedded one. With `NODE_ENV=production` it must be given.',
  ),
  sandboxFile: anyText(
    'SANDBOX_FILE',
    undefined,
    'The file in which the embedded sandbox keeps its data. Absent: in memory, and gone at the end.',
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
    'How many connections to REST there are at most, those of labels aside.',
  ),
  callTimeoutMs: wholeNumber(
    'UPSTREAM_TIMEOUT_MS',
    '10000',
    [1, 600_000],
    'How long one try of a REST call may take until its answer is read whole, in milliseconds.',
  ),
  retries: wholeNumber(
    'UPSTREAM_RETRIES',
    '2',
    [0, 10],
    'How often a REST read that failed is tried again at most, as long as few fail; a write never is once it was sent.',
  ),
  maxResponseBytes: wholeNumber(
    'UPSTREAM_MAX_RESPONSE_BYTES',
    '16777216',
    [1_024, 1_073_741_824],
    'The largest answer that is taken from REST, in bytes, once it is decompressed.',
  ),
  compression: yesOrNo(
    'UPSTREAM_COMPRESSION',
    'no',
    'Whether REST is asked for compressed answers, which pays where the way to it is slow.',
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
