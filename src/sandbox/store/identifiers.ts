import type { Quirks } from '../faults/quirks.ts';

/** What mixed identifiers start with. The plain identifier follows, so that its number stays at the end. */
const mixedStarts = ['_V1St', '-abc', 'CO:05001:', 'a+b=', 'café-', '50%?#'];

/** A whole resource name, but for an organization's: its initials start the identifiers of its records. */
const resourceName =
  /^(?:orders|shipments|quotes|origins|locations|couriers|labels|channels)\/[^/\s]+(?:\/(?:conversations|messages)\/[^/\s]+)*$/;

/** A plain identifier in this form. The same identifier always has the same mixed form. */
export function identifierAs(form: Quirks['identifiers'], plain: string): string {
  if (form === 'plain') return plain;
  // Couriers and most locations have no number at the end; their length stands in for it.
  const number = Number(/\d+$/.exec(plain)?.[0] ?? plain.length);
  return `${mixedStarts[number % mixedStarts.length]}${plain}`;
}

/** The data, which JSON can hold, with every plain resource name in this form. */
export function namesAs<Data>(form: Quirks['identifiers'], data: Data): Data {
  if (form === 'plain') return data;
  const renamed = (_: string, value: unknown) =>
    typeof value === 'string' && resourceName.test(value) ? nameAs(form, value) : value;
  // Nothing but texts has changed, each into another text.
  return JSON.parse(JSON.stringify(data), renamed) as Data;
}

/** Collections and identifiers take turns in a name. */
function nameAs(form: Quirks['identifiers'], name: string): string {
  const parts = name.split('/');
  return parts.map((part, index) => (index % 2 === 0 ? part : identifierAs(form, part))).join('/');
}
