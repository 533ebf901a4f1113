import { createHmac } from 'node:crypto';

/**
 * Makes digests of JSON values that reveal nothing without the secret. With one secret, equal values have equal
 * digests, in any order of fields and in any process. A digest throws what `secret` throws.
 */
export function createDigest(secret: () => Buffer) {
  return (value: unknown) => createHmac('sha256', secret()).update(canonicalJson(value)).digest('base64url');
}

/** JSON with the fields of each object in the order of their names. A field with the value undefined is left out. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/**
 * Returns the fields of an input that differ from their defaults. The digest of these fields stays the same if a later
 * version adds a field with a default.
 */
export function withoutDefaults(input: object, defaults: Readonly<Record<string, unknown>>): object {
  const differs = ([name, value]: [string, unknown]) =>
    canonicalJson(value) !== canonicalJson(defaults[name]);
  return Object.fromEntries(Object.entries(input).filter(differs));
}
