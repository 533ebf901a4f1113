import { describedEnum } from './described-enum.ts';

const UNRECOGNIZED = 'UNRECOGNIZED';

/**
 * Makes an enum for values of REST. UNRECOGNIZED stands for a value that REST adds later, which must not fail a field.
 * @returns the type, `recognize`, which maps a value of REST, and `field`, which makes the options of a non-null field
 */
export function openEnum<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
) {
  const ref = describedEnum<Value | typeof UNRECOGNIZED>(name, description, {
    ...values,
    [UNRECOGNIZED]: 'A value that this version of the server does not know. Not valid as input.',
  });

  const knownValues: ReadonlySet<string> = new Set(Object.keys(values));

  function recognize(value: string): Value | typeof UNRECOGNIZED;
  function recognize(value: string | null | undefined): Value | typeof UNRECOGNIZED | null | undefined;
  function recognize(value: string | null | undefined) {
    // A field fails if its value is not a string.
    return typeof value !== 'string' || knownValues.has(value) ? value : UNRECOGNIZED;
  }

  const field = <Source>(description: string, read: (source: Source) => string) => ({
    type: ref,
    description,
    resolve: (source: Source) => recognize(read(source)),
  });

  return { ref, recognize, field };
}
