import { createHmac } from 'node:crypto';
import { canonicalJson } from '../base/canonical-json.ts';

/**
 * Makes digests of JSON values that reveal nothing without the secret. With one secret, equal values have equal
 * digests, in any order of fields and in any process. A digest throws what `secret` throws.
 */
export function createDigest(secret: () => Buffer) {
  return (value: unknown) => createHmac('sha256', secret()).update(canonicalJson(value)).digest('base64url');
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
