import type { Environment } from './setting.ts';

/**
 * What begins so is meant for this server. The list is written out, as most settings begin with words that other programs
 * use too: MAX_, LOG_, REQUEST_, GRAPHQL_.
 */
export const ownPrefixes = ['UPSTREAM_', 'DRAIN_', 'IDEMPOTENCY_', 'PERSISTED_QUERY_', 'REFERENCE_DATA_'];

/** Shorter names have neighbours that mean something else, as PORT has SORT. */
const leastLength = 8;

/** OpenTelemetry has many that are not read here; Kubernetes sets the others for each service, by its name. */
const ofOthers = /^OTEL_|_PORT$|_PORT_|_SERVICE_/;

/** The faults of variables that are no settings but seem to be meant as such, so that no typo passes for the standard. */
export function unknownSettings(environment: Environment, settings: readonly string[]): string[] {
  const unknown = Object.keys(environment).filter(
    (name) => environment[name] && !settings.includes(name) && !ofOthers.test(name),
  );
  return unknown.flatMap((name) => {
    const meant = settings.find((setting) => setting.length >= leastLength && isOneEdit(name, setting));
    if (meant !== undefined) return [`${name}: there is no such setting; did you mean ${meant}?`];
    if (!ownPrefixes.some((prefix) => name.startsWith(prefix))) return [];
    return [`${name}: there is no such setting; the README lists all of them under "Configuration".`];
  });
}

/** Whether one character that is added, left out, changed or swapped with its neighbour makes one text of the other. */
function isOneEdit(one: string, other: string): boolean {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const [left, right] = [one.slice(same), other.slice(same)];
  return (
    left.slice(1) === right ||
    left === right.slice(1) ||
    left.slice(1) === right.slice(1) ||
    left.slice(1, 2) + left.slice(0, 1) + left.slice(2) === right
  );
}
