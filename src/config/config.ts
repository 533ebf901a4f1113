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
    ...workerErrors(values),
    ...productionErrors(environment),
    ...duplicateNameErrors(values),
    ...metricsErrors(values),
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

function workerErrors({ workers, upstreamConnections }: Pick<Values, 'workers' | 'upstreamConnections'>) {
  if (!(workers > upstreamConnections)) return [];
  const names = [settings.workers, settings.upstreamConnections].map(({ variable }) => variable).join(', ');
  return [`${names}: expected a connection for each worker, but got "${workers}", "${upstreamConnections}".`];
}

/** The access tokens of the sandbox are public. Without a file of the keys, a repeated key writes again. */
function productionErrors(environment: Environment): string[] {
  const [url, file] = [settings.upstreamUrl.variable, settings.stateFile.variable];
  if (environment.NODE_ENV !== 'production') return [];
  if (!environment[url]) {
    return [
      `${url}: expected a value because NODE_ENV is "production", but got none. Set the address of the REST service, or "sandbox".`,
    ];
  }
  if (isSandbox(environment) || environment[file]) return [];
  return [
    `${file}: expected a value because NODE_ENV is "production", but got none. Set the path of a file for idempotency keys, or "memory" to lose them at a restart.`,
  ];
}

/** The query parameters of one REST list need different names. */
function duplicateNameErrors(values: Pick<Values, keyof typeof parameterNameSettings>): string[] {
  const lists = [
    ['pageSizeParameter', 'pageTokenParameter', 'statusParameter', 'searchParameter'],
    ['pageSizeParameter', 'pageTokenParameter', 'queryParameter'],
  ] as const;
  const errors = lists.flatMap((list) => {
    // An undefined name is invalid, and has its own error.
    const named = list.filter((name) => values[name] !== undefined);
    const duplicates = named.filter((name) =>
      named.some((one) => one !== name && values[one] === values[name]),
    );
    if (duplicates.length === 0) return [];
    const variables = duplicates.map((name) => settings[name].variable).join(', ');
    const texts = duplicates.map((name) => quoted(values[name])).join(', ');
    return [`${variables}: expected different names, but got ${texts}.`];
  });
  return [...new Set(errors)];
}

function metricsErrors({ metrics, metricsPort }: Pick<Values, 'metrics' | 'metricsPort'>): string[] {
  if (metrics !== false || metricsPort === undefined) return [];
  const names = [settings.metrics, settings.metricsPort].map(({ variable }) => variable).join(', ');
  return [`${names}: expected no port without metrics, but got "no", "${metricsPort}".`];
}
