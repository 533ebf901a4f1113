import { documentSettings, trustedDocumentSettings } from './documents.ts';
import { listenerSettings, loadSheddingSettings, requestSettings } from './http.ts';
import { limitSettings } from './limits.ts';
import { loadingSettings } from './loading.ts';
import { operationSettings } from './operation.ts';
import { parameterNameSettings, restSettings, upstreamErrors, upstreamSettings } from './rest.ts';
import { serverSettings } from './server.ts';
import { type Environment, type SettingTable, shown, type ValuesOf } from './setting.ts';
import { metricsErrors, metricsSettings, tracingOf, tracingSettings, tracingUses } from './telemetry.ts';
import { unknownSettings } from './unknown-settings.ts';

/** Every setting, in the groups and in the order of docs/configuration.md. */
export const settingGroups = {
  Server: serverSettings,
  'Requests and connections': { ...requestSettings, ...loadSheddingSettings, ...listenerSettings },
  'REST service': { ...upstreamSettings, ...restSettings },
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

/** Settings that can't be used; the message lists every one of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * The settings that an environment holds. An empty variable counts as absent.
 * @throws ConfigError that names every faulty variable, what was expected and what came, and what is no setting but seems
 * to be meant as one.
 */
export function readConfig(environment: Environment) {
  const errors: string[] = [];

  function valuesOf<Table extends SettingTable>(
    table: Table,
    isUsed = (_variable: string) => true,
  ): ValuesOf<Table> {
    const values = Object.entries(table).map(([name, { variable, defaultValue, expected, parse }]) => {
      const given = (isUsed(variable) && environment[variable]) || defaultValue;
      const value = given === undefined ? undefined : parse(given);
      if (given !== undefined && value === undefined) {
        errors.push(`${variable}: expected ${expected}, but got ${shown(given)}.`);
      }
      return [name, value];
    });
    // A setting with a standard is undefined only where it is faulty, and then nothing of this is used.
    return Object.freeze(Object.fromEntries(values)) as ValuesOf<Table>;
  }

  // In the order of the table, in which faults are told.
  const server = valuesOf(serverSettings);
  const requests = valuesOf(requestSettings);
  const loadShedding = valuesOf(loadSheddingSettings);
  const listener = valuesOf(listenerSettings);
  const { upstreamUrl, ...sandbox } = valuesOf(upstreamSettings);
  const parameterNames = valuesOf(parameterNameSettings);
  const rest = valuesOf(restSettings);
  const trustedDocuments = valuesOf(trustedDocumentSettings);
  const documents = valuesOf(documentSettings);
  const operation = valuesOf(operationSettings);
  const loading = valuesOf(loadingSettings);
  const limits = valuesOf(limitSettings);
  const metrics = valuesOf(metricsSettings);
  const tracing = valuesOf(tracingSettings, tracingUses(environment));
  const config = {
    ...server,
    /** Undefined: the embedded sandbox. */
    upstreamUrl: upstreamUrl === 'sandbox' ? undefined : upstreamUrl,
    ...sandbox,
    ...trustedDocuments,
    listener,
    parameterNames,
    rest: Object.freeze({
      ...rest,
      // One for each label that is under way, and as much time as its client has to take it.
      streamConnections: loadShedding.label,
      streamTimeoutMs: listener.responseTimeoutMs,
    }),
    ...metrics,
    /** Undefined: nothing is traced. */
    tracing: tracingOf(tracing),
    /** What the application takes as it is. */
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
    ...sharedNames(parameterNames),
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

/** The fault of workers of which some would have no connection to REST. */
function workerErrors(
  { workers }: ValuesOf<typeof serverSettings>,
  { connections }: ValuesOf<typeof restSettings>,
): string[] {
  if (!(workers > connections)) return [];
  const [of, shared] = [serverSettings.workers.variable, restSettings.connections.variable];
  return [`${of}, ${shared}: expected a connection for each worker, but got "${workers}", "${connections}".`];
}

/** The faults of query parameters that one list would take under the same name. */
function sharedNames(names: ValuesOf<typeof parameterNameSettings>): string[] {
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
    // Undefined: a name that can't be used, which has its own fault.
    const given = Object.entries(list).filter(([, name]) => name !== undefined);
    const shared = given.filter(([, name]) => given.filter(([, other]) => other === name).length > 1);
    if (shared.length === 0) return [];
    const variables = shared.map(([variable]) => variable).join(', ');
    const came = shared.map(([, name]) => shown(name)).join(', ');
    return [`${variables}: expected a name of its own for each, but got ${came}.`];
  });
  return [...new Set(errors)];
}
