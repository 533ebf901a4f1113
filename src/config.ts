import type { LoadingOptions } from './loaders/memory.ts';
import type { ParameterNames } from './rest/api.ts';
import type { RestClientOptions } from './rest/client.ts';
import { type LogLevel, logLevels } from './server/log/log.ts';

/** Everything that can be set from outside, read once at start. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined: the address that the server turns out to listen on. */
  readonly publicUrl: URL | undefined;
  /** Undefined: the embedded sandbox. */
  readonly upstreamUrl: URL | undefined;
  /** Undefined: the embedded sandbox keeps its data in memory. */
  readonly sandboxFile: string | undefined;
  readonly currency: string;
  readonly parameterNames: Readonly<ParameterNames>;
  readonly callsPerOperation: number;
  readonly readsPerOperation: number;
  readonly idempotencyKeys: number;
  readonly loading: Readonly<LoadingOptions>;
  /** Undefined: where the embedded sandbox answers. */
  readonly showCost: boolean | undefined;
  readonly logLevel: LogLevel;
  readonly rest: Readonly<Omit<RestClientOptions, 'baseUrl'>>;
}

/** Settings that can't be used; the message lists every one of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface Setting<Value> {
  variable: string;
  /** The value where the variable is absent, as it would be written; undefined where there is none. */
  standard: string | undefined;
  /** What it is for, as the README's table says it. */
  meaning: string;
  expected: string;
  /** The value, or undefined where the text is not what is expected. */
  parse(text: string): Value | undefined;
}

/** Every setting, in the order of the README's table. */
export const settings = {
  port: wholeNumber('PORT', '4000', [0, 65_535], 'The port to listen on; `0` takes any free one.'),
  host: anyText('HOST', '127.0.0.1', 'The address to listen on; `0.0.0.0` is every one.'),
  publicUrl: httpUrl(
    'PUBLIC_URL',
    'How clients reach this server, for `Label.pdfUrl`. Absent: the address that it listens on.',
  ),
  upstreamUrl: httpUrl('UPSTREAM_URL', 'The base address of the REST service. Absent: the embedded sandbox.'),
  sandboxFile: anyText(
    'SANDBOX_FILE',
    undefined,
    'The file in which the embedded sandbox keeps its data. Absent: in memory, and gone at the end.',
  ),
  currency: currencyCode('CURRENCY', 'COP', 'The currency of money for which the REST interface names none.'),
  pageSizeParameter: parameterName('PAGE_SIZE_PARAMETER', 'pageSize', 'the page size'),
  pageTokenParameter: parameterName('PAGE_TOKEN_PARAMETER', 'pageToken', 'the page token'),
  statusParameter: parameterName('STATUS_PARAMETER', 'status', 'the status filter of orders'),
  searchParameter: parameterName('SEARCH_PARAMETER', 'search', 'the search text of orders'),
  queryParameter: parameterName('QUERY_PARAMETER', 'query', 'the text filter of locations'),
  callsPerOperation: wholeNumber(
    'UPSTREAM_CALLS_PER_OPERATION',
    '16',
    [1, 1_000],
    'How many REST calls one operation has under way at a time at most.',
  ),
  readsPerOperation: wholeNumber(
    'UPSTREAM_READS_PER_OPERATION',
    '250',
    [1, 100_000],
    'How many REST reads one operation makes at most; what lies beyond is null, with an error.',
  ),
  idempotencyKeys: wholeNumber(
    'IDEMPOTENCY_KEYS',
    '20000',
    [1, 10_000_000],
    'How many idempotency keys are remembered at most, each for 24 hours; the oldest are forgotten first.',
  ),
  referenceMs: wholeNumber(
    'REFERENCE_DATA_MS',
    '60000',
    [0, 86_400_000],
    'How long origins, locations, channels and templates are kept for a token, in milliseconds; `0` keeps none.',
  ),
  referenceGraceMs: wholeNumber(
    'REFERENCE_DATA_GRACE_MS',
    '300000',
    [0, 86_400_000],
    'How much longer they are still answered while they are read anew, in milliseconds.',
  ),
  listsForBatches: yesOrNo(
    'UPSTREAM_LISTS_FOR_BATCHES',
    'yes',
    'Whether many ids at once may be answered from pages of their list, where that is expected to be cheaper.',
  ),
  aheadOfAsk: yesOrNo(
    'UPSTREAM_AHEAD_OF_ASK',
    'yes',
    'Whether a page of shipments may be asked for together with the orders that name them.',
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
  connections: wholeNumber(
    'UPSTREAM_CONNECTIONS',
    '64',
    [1, 10_000],
    'How many connections to REST there are at most.',
  ),
  connectTimeoutMs: wholeNumber(
    'UPSTREAM_CONNECT_TIMEOUT_MS',
    '2000',
    [1, 600_000],
    'How long a connection to REST may take to open, in milliseconds.',
  ),
  callTimeoutMs: wholeNumber(
    'UPSTREAM_TIMEOUT_MS',
    '10000',
    [1, 600_000],
    'How long a REST call may take until its answer is read whole, in milliseconds.',
  ),
  maxResponseBytes: wholeNumber(
    'UPSTREAM_MAX_RESPONSE_BYTES',
    '16777216',
    [1_024, 1_073_741_824],
    'The largest JSON answer that is taken from REST, in bytes.',
  ),
};

/**
 * The settings that an environment holds. An empty variable counts as absent.
 * @throws ConfigError that names every faulty variable, what was expected and what came.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];

  function optional<Value>({ variable, standard, expected, parse }: Setting<Value>): Value | undefined {
    const given = environment[variable] || standard;
    const value = given === undefined ? undefined : parse(given);
    if (given !== undefined && value === undefined) {
      faults.push(`${variable}: expected ${expected}, but got ${shown(given)}.`);
    }
    return value;
  }
  // A setting with a standard is undefined only where it is faulty, and then nothing of this is used.
  const required = <Value>(setting: Setting<Value>) => optional(setting) as Value;

  const config: Config = {
    host: required(settings.host),
    port: required(settings.port),
    publicUrl: optional(settings.publicUrl),
    upstreamUrl: optional(settings.upstreamUrl),
    sandboxFile: optional(settings.sandboxFile),
    currency: required(settings.currency),
    parameterNames: Object.freeze({
      pageSize: required(settings.pageSizeParameter),
      pageToken: required(settings.pageTokenParameter),
      status: required(settings.statusParameter),
      search: required(settings.searchParameter),
      query: required(settings.queryParameter),
    }),
    callsPerOperation: required(settings.callsPerOperation),
    readsPerOperation: required(settings.readsPerOperation),
    idempotencyKeys: required(settings.idempotencyKeys),
    loading: Object.freeze({
      referenceMs: required(settings.referenceMs),
      referenceGraceMs: required(settings.referenceGraceMs),
      listsForBatches: required(settings.listsForBatches),
      aheadOfAsk: required(settings.aheadOfAsk),
    }),
    showCost: optional(settings.showCost),
    logLevel: required(settings.logLevel),
    rest: Object.freeze({
      connections: required(settings.connections),
      connectTimeoutMs: required(settings.connectTimeoutMs),
      callTimeoutMs: required(settings.callTimeoutMs),
      maxResponseBytes: required(settings.maxResponseBytes),
    }),
  };
  faults.push(...sharedNames(config.parameterNames));
  if (faults.length > 0) {
    throw new ConfigError(`These settings of the environment can't be used:\n  ${faults.join('\n  ')}`);
  }
  return Object.freeze(config);
}

/** The faults of query parameters that one list would take under the same name. */
function sharedNames(names: Readonly<ParameterNames>): string[] {
  const { pageSizeParameter, pageTokenParameter, statusParameter, searchParameter, queryParameter } =
    settings;
  const everyList = {
    [pageSizeParameter.variable]: names.pageSize,
    [pageTokenParameter.variable]: names.pageToken,
  };
  const lists: Record<string, string>[] = [
    { ...everyList, [statusParameter.variable]: names.status, [searchParameter.variable]: names.search },
    { ...everyList, [queryParameter.variable]: names.query },
  ];
  const faults = lists.flatMap((list) => {
    // Undefined: a name that can't be used, which has its own fault.
    const given = Object.entries(list).filter(([, name]) => name !== undefined);
    const shared = given.filter(([, name]) => given.filter(([, other]) => other === name).length > 1);
    if (shared.length === 0) return [];
    const variables = shared.map(([variable]) => variable).join(', ');
    const came = shared.map(([, name]) => shown(name)).join(', ');
    return [`${variables}: expected a name of its own for each, but got ${came}.`];
  });
  return [...new Set(faults)];
}

/** A value as a fault shows it: quoted, and without the credentials that a URL may hold. */
function shown(value: string): string {
  return JSON.stringify(value.replace(/\/\/[^/]*@/, '//…@'));
}

function wholeNumber(
  variable: string,
  standard: string,
  [least, most]: [number, number],
  meaning: string,
): Setting<number> {
  return {
    variable,
    standard,
    meaning,
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

function yesOrNo(variable: string, standard: 'yes' | 'no' | undefined, meaning: string): Setting<boolean> {
  const values: Record<string, boolean> = { yes: true, no: false };
  return {
    variable,
    standard,
    meaning,
    expected: '"yes" or "no"',
    parse: (text) => (Object.hasOwn(values, text) ? values[text] : undefined),
  };
}

function oneOf<Value extends string>(
  variable: string,
  standard: Value,
  values: readonly Value[],
  meaning: string,
): Setting<Value> {
  return {
    variable,
    standard,
    meaning,
    expected: `one of ${values.map((value) => `"${value}"`).join(', ')}`,
    parse: (text) => values.find((value) => value === text),
  };
}

function anyText(variable: string, standard: string | undefined, meaning: string): Setting<string> {
  return { variable, standard, meaning, expected: 'a text', parse: (text) => text };
}

function httpUrl(variable: string, meaning: string): Setting<URL> {
  return {
    variable,
    standard: undefined,
    meaning,
    expected: 'an http or https URL without query, fragment or credentials',
    parse: (text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const fits = /^https?:$/.test(url?.protocol ?? '') && !/[?#@]/.test(text);
      return fits ? url : undefined;
    },
  };
}

function currencyCode(variable: string, standard: string, meaning: string): Setting<string> {
  return {
    variable,
    standard,
    meaning,
    expected: 'an ISO 4217 code of three capital letters',
    parse: (text) => (/^[A-Z]{3}$/.test(text) ? text : undefined),
  };
}

function parameterName(variable: string, standard: string, of: string): Setting<string> {
  return {
    variable,
    standard,
    meaning: `The query parameter by which REST takes ${of}.`,
    expected: 'a name of letters, digits, ".", "_" and "-"',
    parse: (text) => (/^[\w.-]+$/.test(text) ? text : undefined),
  };
}
