import type { Quirks } from '../faults/quirks.ts';

/** The prefixes of mixed identifiers. The plain identifier follows, so its number stays at the end. */
const mixedPrefixes = ['_V1St', '-abc', 'CO:05001:', 'a+b=', 'café-', '50%?#'];

/** A resource name, except of organizations: their initials are the prefix of identifiers and must not change. */
const resourceName =
  /^(?:orders|shipments|quotes|origins|locations|couriers|labels|channels)\/[^/\s]+(?:\/(?:conversations|messages)\/[^/\s]+)*$/;

/** Returns an identifier in the given form. The same identifier always has the same mixed form. */
export function formatIdentifier(form: Quirks['identifiers'], plain: string): string {
  if (form === 'plain') return plain;
  // Couriers and most locations have no number at the end. Their length replaces the number.
  const number = Number(/\d+$/.exec(plain)?.[0] ?? plain.length);
  return `${mixedPrefixes[number % mixedPrefixes.length]}${plain}`;
}

/** Returns a copy of JSON data with all resource names in the given form. */
export function formatNames<Data>(form: Quirks['identifiers'], data: Data): Data {
  if (form === 'plain') return data;
  const formatValue = (_: string, value: unknown) =>
    typeof value === 'string' && resourceName.test(value) ? formatName(form, value) : value;
  // The copy differs only in texts, so it still has the type of the data.
  return JSON.parse(JSON.stringify(data), formatValue) as Data;
}

/** Parts of a name alternate between collections and identifiers. */
function formatName(form: Quirks['identifiers'], name: string): string {
  const parts = name.split('/');
  return parts.map((part, index) => (index % 2 === 0 ? part : formatIdentifier(form, part))).join('/');
}
