import { documentSettings, loadingSettings, operationSettings } from './operation.ts';
import { proxySettings } from './proxy.ts';
import { parameterNameSettings, restSettings } from './rest.ts';
import { metricsSettings, requestSettings, serverSettings } from './server.ts';
import { type Environment, quoted, type Setting, type ValuesOf } from './setting.ts';
import { wantsTraces } from './traces.ts';
import { unknownSettings } from './unknown-settings.ts';

/** Every setting, in the groups and in the order of docs/configuration.md. */
export const settingGroups = {
  Server: serverSettings,
  'Requests and connections': requestSettings,
  'REST service': restSettings,
  'Proxy for REST': proxySettings,
  'Names of REST query parameters': parameterNameSettings,
  Documents: documentSettings,
  Operations: operationSettings,
  'Reference data and list pages': loadingSettings,
  Metrics: metricsSettings,
};

/** Every setting by the name of its value. */
export const settings = {
  ...serverSettings,
  ...requestSettings,
  ...restSettings,
  ...proxySettings,
  ...parameterNameSettings,
  ...documentSettings,
  ...operationSettings,
  ...loadingSettings,
  ...metricsSettings,
};

type Values = ValuesOf<typeof settings>;

/** The value of each setting, read once at start. */
export interface Config extends Omit<Values, 'upstreamUrl' | 'metrics' | keyof typeof proxySettings> {
  /** Undefined means the embedded sandbox. */
  readonly upstreamUrl: URL | undefined;
  readonly metrics: boolean;
  /** Undefined where REST is called directly. */
  readonly proxy: Proxies | undefined;
  readonly tracing: boolean;
}

interface Proxies extends Pick<Values, 'httpsProxy' | 'httpProxy'> {
  readonly noProxy: string;
}

/** Some settings cannot be used. The message lists all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads all settings from the environment. An empty variable counts as absent.
 * @throws ConfigError that lists every invalid variable with the expected and the actual value, and every variable
 * that looks like a misspelled setting.
 */
export function readConfig(environment: Environment): Config {
  const errors: string[] = [];
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    const { variable, defaultValue, expected, parse } = setting;
    const isProxy = Object.hasOwn(proxySettings, name);
    const alias = variable.toLowerCase();
    const setName = isProxy && environment[alias] ? alias : variable;
    // The embedded sandbox is called without a proxy.
    const text = (!(isProxy && isSandbox(environment)) && environment[setName]) || defaultValue;
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined) {
      errors.push(`${setName}: expected ${expected}, but got ${quoted(text)}.`);
    }
    return [name, value];
  });
  // A setting with a default is undefined only if it is invalid, and then this function throws.
  const values = Object.fromEntries(entries) as Values;
  const variables = Object.values(settings).map(({ variable }) => variable);
  errors.push(
    ...conflicts(values, environment),
    ...missingSettings(environment),
    ...unknownSettings(environment, variables),
  );
  if (errors.length > 0) {
    throw new ConfigError(`These settings of the environment can't be used:\n  ${errors.join('\n  ')}`);
  }
  const { upstreamUrl, httpsProxy, httpProxy, noProxy = '', ...others } = values;
  const hasProxy = httpsProxy !== undefined || httpProxy !== undefined;
  return Object.freeze({
    ...others,
    upstreamUrl: upstreamUrl === 'sandbox' ? undefined : upstreamUrl,
    metrics: values.metrics ?? (upstreamUrl === 'sandbox' || values.metricsPort !== undefined),
    proxy: hasProxy ? Object.freeze({ httpsProxy, httpProxy, noProxy }) : undefined,
    tracing: wantsTraces(environment),
  });
}

function isSandbox(environment: Environment): boolean {
  const { variable, defaultValue } = settings.upstreamUrl;
  return (environment[variable] || defaultValue) === 'sandbox';
}

/** The lists of REST, with their query parameters. */
const parametersOfLists = [
  ['pageSizeParameter', 'pageTokenParameter', 'statusParameter', 'searchParameter'],
  ['pageSizeParameter', 'pageTokenParameter', 'queryParameter'],
] as const;

/** The errors of values that do not fit each other. An invalid value is undefined, and has its own error. */
function conflicts(values: Values, environment: Environment): string[] {
  const conflict = (names: readonly (keyof Values)[], expected: string) => {
    const variables = names.map((name) => settings[name].variable);
    const texts = names.map((name) => environment[settings[name].variable] || settings[name].defaultValue);
    return `${variables.join(', ')}: expected ${expected}, but got ${texts.map((text = '') => quoted(text)).join(', ')}.`;
  };
  const errors: string[] = [];
  if (values.workers > values.upstreamConnections) {
    errors.push(conflict(['workers', 'upstreamConnections'], 'a connection for each worker'));
  }
  for (const list of parametersOfLists) {
    for (const [value, names] of Map.groupBy(list, (name) => values[name])) {
      if (value !== undefined && names.length > 1) errors.push(conflict(names, 'different names'));
    }
  }
  if (values.metrics === false && values.metricsPort !== undefined) {
    errors.push(conflict(['metrics', 'metricsPort'], 'no port without metrics'));
  }
  return [...new Set(errors)];
}

/** The access tokens of the sandbox are public. Without a file of the keys, a repeated key writes again. */
function missingSettings(environment: Environment): string[] {
  const { upstreamUrl, stateFile, host } = settings;
  const missing = ({ variable }: Setting<unknown>, reason: string, advice: string) => [
    `${variable}: expected a value because ${reason}, but got none. Set ${advice}.`,
  ];
  const isProduction = environment.NODE_ENV === 'production';
  const inProduction = 'NODE_ENV is "production"';
  const hostText = environment[host.variable] || host.defaultValue;
  if (!environment[upstreamUrl.variable]) {
    if (!isProduction && isLoopback(hostText)) return [];
    const reason = isProduction ? inProduction : `${host.variable} is ${quoted(hostText)}`;
    return missing(upstreamUrl, reason, 'the address of the REST service, or "sandbox"');
  }
  if (!isProduction || isSandbox(environment) || environment[stateFile.variable]) return [];
  return missing(
    stateFile,
    inProduction,
    'the path of a file for idempotency keys, or "memory" to lose them at a restart',
  );
}

/** Whether only this machine reaches an address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);
}
