import { documentSettings, trustedDocumentSettings } from './documents.ts';
import { listenerSettings, loadSheddingSettings, requestSettings } from './http.ts';
import { limitSettings } from './limits.ts';
import { loadingSettings } from './loaders.ts';
import { operationSettings } from './operation.ts';
import { proxyOf, proxySettings } from './proxy.ts';
import { parameterNameSettings, restSettings, upstreamErrors, upstreamSettings } from './rest.ts';
import { serverSettings } from './server.ts';
import { type Environment, quoted, type SettingTable, type ValuesOf } from './setting.ts';
import { metricsErrors, metricsSettings, tracingOf, tracingSettings, tracingUses } from './telemetry.ts';
import { unknownSettings } from './unknown-settings.ts';

/** Every setting, in the groups and in the order of docs/configuration.md. */
export const settingGroups = {
  Server: serverSettings,
  'Requests and connections': { ...requestSettings, ...loadSheddingSettings, ...listenerSettings },
  'REST service': { ...upstreamSettings, ...restSettings },
  'Proxy for REST': proxySettings,
  'Names of REST query parameters': parameterNameSettings,
  Documents: { ...trustedDocumentSettings, ...documentSettings },
  Operations: operationSettings,
  'Reference data and list pages': loadingSettings,
  Limits: limitSettings,
  Metrics: metricsSettings,
  Traces: tracingSettings,
};

/** Every setting by the name of its value. */
export const settings = Object.assign({}, ...Object.values(settingGroups)) as SettingTable;

/** Everything that can be set from outside, read once at start. */
export type Config = ReturnType<typeof readConfig>;

/** Some settings cannot be used. The message lists all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads all settings from the environment. An empty variable counts as absent.
 * @throws ConfigError that lists every invalid variable with the expected and the actual value, and every variable
 * that looks like a misspelled setting.
 */
export function readConfig(environment: Environment) {
  const errors: string[] = [];

  function valuesOf<Table extends SettingTable>(
    table: Table,
    isUsed = (_variable: string) => true,
  ): ValuesOf<Table> {
    const values = Object.entries(table).map(([name, { variable, alias, defaultValue, expected, parse }]) => {
      const setName = alias !== undefined && environment[alias] ? alias : variable;
      const text = (isUsed(variable) && environment[setName]) || defaultValue;
      const value = text === undefined ? undefined : parse(text);
      if (text !== undefined && value === undefined) {
        errors.push(`${setName}: expected ${expected}, but got ${quoted(text)}.`);
      }
      return [name, value];
    });
    // A setting with a default is undefined only if it is invalid, and then `readConfig` throws.
    return Object.freeze(Object.fromEntries(values)) as ValuesOf<Table>;
  }

  // In the order of docs/configuration.md, which is also the order of the error messages.
  const server = valuesOf(serverSettings);
  const requests = valuesOf(requestSettings);
  const loadShedding = valuesOf(loadSheddingSettings);
  const listener = valuesOf(listenerSettings);
  const { upstreamUrl, ...sandbox } = valuesOf(upstreamSettings);
  const parameterNames = valuesOf(parameterNameSettings);
  const rest = valuesOf(restSettings);
  // The embedded sandbox is called without a proxy.
  const proxy = valuesOf(proxySettings, () => upstreamUrl instanceof URL);
  const trustedDocuments = valuesOf(trustedDocumentSettings);
  const documents = valuesOf(documentSettings);
  const operation = valuesOf(operationSettings);
  const loading = valuesOf(loadingSettings);
  const limits = valuesOf(limitSettings);
  const metrics = valuesOf(metricsSettings);
  const tracing = valuesOf(tracingSettings, tracingUses(environment));
  const config = {
    ...server,
    /** Undefined means the embedded sandbox. */
    upstreamUrl: upstreamUrl === 'sandbox' ? undefined : upstreamUrl,
    ...sandbox,
    ...trustedDocuments,
    listener,
    parameterNames,
    rest: Object.freeze({
      ...rest,
      // One connection per label download, and the same timeout as for its client.
      streamConnections: loadShedding.label,
      streamTimeoutMs: listener.responseTimeoutMs,
      /** Undefined where REST is called directly. */
      proxy: proxyOf(proxy),
    }),
    ...metrics,
    /** Undefined when tracing is off. */
    tracing: tracingOf(tracing),
    /** The options that are passed to `createApp` unchanged. */
    app: Object.freeze({
      ...documents,
      ...operation,
      ...requests,
      loadShedding,
      isHttps: server.publicUrl?.protocol === 'https:',
      callsAtOnce: rest.connections,
      loading,
      limits,
    }),
  };
  errors.push(
    ...workerErrors(server, rest),
    ...upstreamErrors(environment),
    ...stateFileErrors(environment, server, upstreamUrl),
    ...duplicateNameErrors(parameterNames),
    ...metricsErrors(metrics),
    ...unknownSettings(
      environment,
      Object.values(settings).map(({ variable }) => variable),
    ),
  );
  if (errors.length > 0) {
    throw new ConfigError(`These settings of the environment can't be used:\n  ${errors.join('\n  ')}`);
  }
  return Object.freeze(config);
}

/** Returns an error if there are more workers than connections to REST. */
function workerErrors(
  { workers }: ValuesOf<typeof serverSettings>,
  { connections }: ValuesOf<typeof restSettings>,
): string[] {
  if (!(workers > connections)) return [];
  const [workersName, connectionsName] = [serverSettings.workers.variable, restSettings.connections.variable];
  return [
    `${workersName}, ${connectionsName}: expected a connection for each worker, but got "${workers}", "${connections}".`,
  ];
}

/** Returns an error if production has no file for the keys: after a restart, a repeated key would write again. */
function stateFileErrors(
  environment: Environment,
  { stateFile }: ValuesOf<typeof serverSettings>,
  upstreamUrl: URL | 'sandbox' | undefined,
): string[] {
  const isLive = upstreamUrl instanceof URL;
  if (environment.NODE_ENV !== 'production' || !isLive || stateFile !== undefined) return [];
  const { variable } = serverSettings.stateFile;
  return [
    `${variable}: expected the path of a file for idempotency keys where NODE_ENV is "production", or "memory" to lose them at a restart, but got none.`,
  ];
}

/** Returns an error for each list whose query parameters do not have different names. */
function duplicateNameErrors(names: ValuesOf<typeof parameterNameSettings>): string[] {
  const { pageSize, pageToken, status, search, query } = parameterNameSettings;
  const everyList = {
    [pageSize.variable]: names.pageSize,
    [pageToken.variable]: names.pageToken,
  };
  const lists: Record<string, string>[] = [
    { ...everyList, [status.variable]: names.status, [search.variable]: names.search },
    { ...everyList, [query.variable]: names.query },
  ];
  const errors = lists.flatMap((list) => {
    // An undefined name is invalid, and has its own error.
    const named = Object.entries(list).filter(([, name]) => name !== undefined);
    const duplicates = named.filter(([, name]) => named.filter(([, other]) => other === name).length > 1);
    if (duplicates.length === 0) return [];
    const variables = duplicates.map(([variable]) => variable).join(', ');
    const values = duplicates.map(([, name]) => quoted(name)).join(', ');
    return [`${variables}: expected a name of its own for each, but got ${values}.`];
  });
  return [...new Set(errors)];
}
