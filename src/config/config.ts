import type { ProxyOptions } from '../rest/connection-pools.ts';
import type { QueryParameterNames } from '../rest/watch/parameter-watch.ts';
import { operationSettings } from './operation.ts';
import { proxySettings } from './proxy.ts';
import { parameterNameSettings, restSettings } from './rest.ts';
import { requestSettings, serverSettings } from './server.ts';
import { type Environment, quoted, type Setting, type Values } from './setting.ts';
import { unknownSettings } from './unknown-settings.ts';

/** In the order of docs/configuration.md. */
export const settingGroups = {
  Server: serverSettings,
  'Requests and connections': requestSettings,
  'REST service': restSettings,
  'Proxy for REST': proxySettings,
  'Names of REST query parameters': parameterNameSettings,
  Operations: operationSettings,
};

/** By the names of their values. */
export const settings = {
  ...serverSettings,
  ...requestSettings,
  ...restSettings,
  ...proxySettings,
  ...parameterNameSettings,
  ...operationSettings,
};

type SettingValues = Values<typeof settings>;

/** The settings that `Config` has in another form. */
type ReplacedName =
  | 'upstreamUrl'
  | 'showCost'
  | 'metrics'
  | keyof typeof parameterNameSettings
  | keyof typeof proxySettings;

/** The values are read once, at the start. */
export interface Config extends Omit<SettingValues, ReplacedName> {
  /** Undefined means the embedded sandbox. */
  readonly upstreamUrl: URL | undefined;
  readonly parameterNames: QueryParameterNames;
  readonly showCost: boolean;
  readonly metrics: boolean;
  /** Undefined where REST is called directly. */
  readonly proxy: ProxyOptions | undefined;
  readonly tracing: boolean;
}

/** The message lists all settings that cannot be used. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads the settings. An empty variable counts as absent.
 * @throws ConfigError for invalid values, and for variables that look like misspelled settings
 */
export function readConfig(environment: Environment): Config {
  const errors: string[] = [];
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    const { variable, defaultValue, expected, parse, advice, shown = quoted } = setting;
    const isProxy = Object.hasOwn(proxySettings, name);
    // As in other programs, `https_proxy` wins over `HTTPS_PROXY`.
    const alias = variable.toLowerCase();
    const setName = isProxy && environment[alias] ? alias : variable;
    // The embedded sandbox is called without a proxy.
    const isIgnored = isProxy && isSandbox(environment);
    const text = (isIgnored ? undefined : environment[setName]) || defaultValue;
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined) {
      const message = `${setName}: expected ${expected}, but got ${shown(text)}.`;
      errors.push(advice === undefined ? message : `${message} ${advice(text)}`);
    }
    return [name, value];
  });
  // A setting with a default is undefined only if it is invalid, and then this function throws.
  const values = Object.fromEntries(entries) as SettingValues;
  const variables = Object.values(settings).map(({ variable }) => variable);
  errors.push(
    ...conflicts(values, environment),
    ...missingSettings(environment, values),
    ...unknownSettings(environment, variables),
  );
  if (errors.length > 0) {
    throw new ConfigError(`The environment has invalid settings:\n  ${errors.join('\n  ')}`);
  }
  const { upstreamUrl, httpsProxy, httpProxy, noProxy = '', ...withNames } = values;
  const {
    pageSizeParameter,
    pageTokenParameter,
    statusParameter,
    searchParameter,
    queryParameter,
    ...others
  } = withNames;
  const hasSandbox = upstreamUrl === 'sandbox';
  const hasProxy = httpsProxy !== undefined || httpProxy !== undefined;
  return Object.freeze({
    ...others,
    upstreamUrl: hasSandbox ? undefined : upstreamUrl,
    parameterNames: Object.freeze({
      pageSize: pageSizeParameter,
      pageToken: pageTokenParameter,
      status: statusParameter,
      search: searchParameter,
      query: queryParameter,
    }),
    showCost: values.showCost ?? hasSandbox,
    metrics: values.metrics ?? (hasSandbox || values.metricsPort !== undefined),
    proxy: hasProxy ? Object.freeze({ httpsProxy, httpProxy, noProxy }) : undefined,
    tracing: wantsTraces(environment),
  });
}

function isSandbox({ UPSTREAM_URL }: Environment): boolean {
  return (UPSTREAM_URL || settings.upstreamUrl.defaultValue) === 'sandbox';
}

/** The query parameters of a list of REST: those of orders, and those of locations. Each needs a name of its own. */
const parametersOfLists = [
  ['pageSizeParameter', 'pageTokenParameter', 'statusParameter', 'searchParameter'],
  ['pageSizeParameter', 'pageTokenParameter', 'queryParameter'],
] as const;

/** The errors of values that do not fit each other. An invalid value is undefined, and has its own error. */
function conflicts(values: SettingValues, environment: Environment): string[] {
  const conflict = (names: readonly (keyof SettingValues)[], expected: string) => {
    const variables = names.map((name) => settings[name].variable);
    const texts = names.map((name) => environment[settings[name].variable] || settings[name].defaultValue);
    return `${variables.join(', ')}: expected ${expected}, but got ${texts.map((text = '') => quoted(text)).join(', ')}.`;
  };
  const errors: string[] = [];
  for (const list of parametersOfLists) {
    for (const [value, names] of Map.groupBy(list, (name) => values[name])) {
      if (value !== undefined && names.length > 1)
        errors.push(conflict(names, 'a different name for each parameter'));
    }
  }
  if (values.metrics === false && values.metricsPort !== undefined) {
    errors.push(conflict(['metrics', 'metricsPort'], 'no METRICS_PORT if METRICS is "no"'));
  }
  const { port, metricsPort } = values;
  if (metricsPort !== undefined && metricsPort !== 0 && metricsPort === port)
    errors.push(conflict(['port', 'metricsPort'], 'two different ports'));
  // Both lists have the parameters of pages, so both may report the same error.
  return [...new Set(errors)];
}

/**
 * The errors of two settings whose defaults are safe only on a developer's machine. Without UPSTREAM_URL the server
 * runs the sandbox, whose access tokens are public. Without STATE_FILE or STATE_URL a restart forgets the idempotency
 * keys, and a repeated key then writes again.
 */
function missingSettings(environment: Environment, { host }: SettingValues): string[] {
  const missing = (variable: string, reason: string, advice: string) => [
    `${variable}: required because ${reason}. Set ${variable} to ${advice}.`,
  ];
  const isProduction = environment.NODE_ENV === 'production';
  const inProduction = 'NODE_ENV is "production"';
  if (!environment.UPSTREAM_URL) {
    // An invalid host is undefined, and has its own error.
    if (!isProduction && (host === undefined || isLoopback(host))) return [];
    const reason = isProduction ? inProduction : `HOST is ${quoted(host)}`;
    return missing('UPSTREAM_URL', reason, 'the address of the REST service, or to "sandbox"');
  }
  if (!isProduction || isSandbox(environment) || environment.STATE_FILE || environment.STATE_URL) return [];
  return missing(
    'STATE_FILE',
    inProduction,
    'the path of a file for idempotency keys, or to "memory" if a restart may lose the keys, or set STATE_URL',
  );
}

/** Whether only this machine reaches an address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);
}

/** Whether OpenTelemetry is set to export traces. Only then its packages are loaded, which read its other variables. */
function wantsTraces(environment: Environment): boolean {
  const exporter = environment.OTEL_TRACES_EXPORTER;
  const hasEndpoint =
    environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const isDisabled = environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true';
  return !isDisabled && (exporter ? exporter === 'otlp' : Boolean(hasEndpoint));
}
