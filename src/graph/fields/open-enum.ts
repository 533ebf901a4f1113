import { BadInputError, InvalidResponseError } from '../../rest/errors.ts';
import { builder } from '../builder.ts';

const UNRECOGNIZED = 'UNRECOGNIZED';

/**
 * Makes a GraphQL enum for an enum of the REST service. UNRECOGNIZED stands for a value that REST adds later, so that
 * a new value never fails a field.
 * @returns the enum type, `recognize`, which maps a value of REST to the enum, and the options of a non-null field
 */
export function openEnum<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
) {
  const ref = builder.enumType(name, {
    description,
    values: {
      // The cast restores the literal types, because Object.fromEntries loses them.
      ...(Object.fromEntries(
        Object.entries<string>(values).map(([value, description]) => [value, { description }]),
      ) as Record<Value, { description: string }>),
      [UNRECOGNIZED]: {
        description: 'A value that this version of the server does not know. Not valid as input.',
      },
    } as Record<Value | typeof UNRECOGNIZED, { description: string }>,
  });

  const knownValues: ReadonlySet<string> = new Set(Object.keys(values));

  function recognize(value: string): Value | typeof UNRECOGNIZED;
  function recognize(value: string | null | undefined): Value | typeof UNRECOGNIZED | null;
  function recognize(value: string | null | undefined) {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') throw new InvalidResponseError(`Expected a text as ${name} from REST`);
    return knownValues.has(value) ? value : UNRECOGNIZED;
  }

  const field = <Source>(description: string, read: (source: Source) => string) => ({
    type: ref,
    description,
    resolve: (source: Source) => recognize(read(source)),
  });

  return { ref, recognize, field };
}

/** Sorted and without duplicates. An absent or empty list means no filter. @throws BadInputError for UNRECOGNIZED */
export function statusFilter(status: readonly string[] | null | undefined): string[] | undefined {
  if (status?.includes('UNRECOGNIZED')) {
    throw new BadInputError(
      'Expected "status" to name known statuses, but got UNRECOGNIZED, which is for output only.',
    );
  }
  return status === null || status === undefined || status.length === 0
    ? undefined
    : [...new Set(status)].sort();
}
