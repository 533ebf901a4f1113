import { isOneEdit } from '../base/is-one-edit.ts';
import type { Environment } from './setting.ts';

/** Other programs use most other prefixes of settings too, such as MAX_ and LOG_. */
export const settingPrefixes = ['UPSTREAM_', 'DRAIN_', 'REFERENCE_DATA_'];

/** Settings of earlier versions that would be ignored, with what to do. */
const removedSettings: Readonly<Record<string, string>> = {
  WORKERS:
    'this setting is gone, because a server is one process. Remove WORKERS. docs/operations/deploy.md says how to use ' +
    'several cores.',
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
    if (Object.hasOwn(removedSettings, name)) return [`${name}: ${removedSettings[name]}`];
    const meant = settings.find((setting) => setting.length >= minLength && isOneEdit(name, setting));
    if (meant !== undefined) return [`${name}: unknown setting; did you mean ${meant}?`];
    const isOurs = settingPrefixes.some((prefix) => name.startsWith(prefix));
    return isOurs ? [`${name}: unknown setting; docs/configuration.md lists all settings.`] : [];
  });
}
