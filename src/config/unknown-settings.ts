import { isOneEdit } from '../base/is-one-edit.ts';
import type { Environment } from './setting.ts';

/**
 * A variable that begins so can only be meant for Waybill. Other programs use most other prefixes of settings too, such
 * as MAX_ and LOG_.
 */
export const settingPrefixes = ['UPSTREAM_', 'DRAIN_', 'REFERENCE_DATA_'];

const limitOfApi = 'docs/api-reference.md lists the fixed limits';

/**
 * Settings of earlier versions, with what holds in their place. A removed name that other programs use too, such as
 * MAX_TOKENS, is not listed, because the variable may be theirs.
 */
const removedSettings: Readonly<Record<string, string>> = {
  WORKERS: 'a server is one process, and docs/operations/deploy.md says how to use several cores',
  IDEMPOTENCY_KEYS: 'each merchant has 100,000 keys and locks',
  MAX_ALIASES: limitOfApi,
  MAX_LIST_ITEMS: limitOfApi,
  MAX_VALUE_CHARACTERS: limitOfApi,
  LABEL_REQUESTS_AT_ONCE: 'the server sends at most 32 labels at a time',
  DOCUMENT_CACHE_BYTES: 'the cache of parsed documents has 64 MiB',
  PERSISTED_QUERY_BYTES: 'the cache of persisted queries has 16 MiB',
  REQUEST_BYTES_AT_ONCE: 'all incomplete request bodies together have 64 MiB',
  UPSTREAM_CALLS_PER_OPERATION: 'calls wait for a connection, and access tokens take turns',
  UPSTREAM_QUEUE: 'calls wait for a connection, and access tokens take turns',
  UPSTREAM_MAX_RESPONSE_BYTES: 'a response of REST has at most 16 MiB',
  UPSTREAM_CONNECT_TIMEOUT_MS: 'a connection opens within 2 seconds',
  UPSTREAM_AHEAD_OF_ASK: 'in place of UPSTREAM_AHEAD_OF_ASK=no, set UPSTREAM_LISTS_FOR_BATCHES=no',
  REFERENCE_DATA_GRACE_MS: 'expired reference data is kept for 5 minutes',
};

/** A shorter name may be one edit away from an unrelated variable, such as SORT from PORT. */
const minLength = 8;

/** OpenTelemetry reads its own variables. Kubernetes sets the others for each service. */
const foreignPattern = /^OTEL_|_PORT$|_PORT_|_SERVICE_/;

/** An error for each variable that is a removed or misspelled setting. Otherwise the default would apply unnoticed. */
export function unknownSettings(environment: Environment, settings: readonly string[]): string[] {
  const unknown = Object.keys(environment).filter(
    (name) => environment[name] && !settings.includes(name) && !foreignPattern.test(name),
  );
  return unknown.flatMap((name) => {
    if (Object.hasOwn(removedSettings, name))
      return [`${name}: this setting is gone: ${removedSettings[name]}. Remove ${name}.`];
    const meant = settings.find((setting) => setting.length >= minLength && isOneEdit(name, setting));
    if (meant !== undefined) return [`${name}: unknown setting; did you mean ${meant}?`];
    const isOurs = settingPrefixes.some((prefix) => name.startsWith(prefix));
    return isOurs ? [`${name}: unknown setting; docs/configuration.md lists all settings.`] : [];
  });
}
