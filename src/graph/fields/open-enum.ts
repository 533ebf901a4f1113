import { InvalidResponseError } from '../../rest/errors.ts';
import { builder } from '../builder.ts';

const UNRECOGNIZED = 'UNRECOGNIZED';

/**
 * An enum of the REST service as the graph gives it out: its known values, each with its description, and UNRECOGNIZED
 * for a value that REST has added since, so that new values never fail a field.
 */
export function openEnum<Value extends string>(
  name: string,
  description: string,
  values: Readonly<Record<Value, string>>,
) {
  const ref = builder.enumType(name, {
    description,
    values: {
      // The values of the parameter, as object keys lose their literal type.
      ...(Object.fromEntries(
        Object.entries<string>(values).map(([value, description]) => [value, { description }]),
      ) as Record<Value, { description: string }>),
      [UNRECOGNIZED]: {
        description: 'A value that this version of the server does not know. Not for input.',
      },
    } as Record<Value | typeof UNRECOGNIZED, { description: string }>,
  });

  const known: ReadonlySet<string> = new Set(Object.keys(values));

  function recognize(value: string): Value | typeof UNRECOGNIZED;
  function recognize(value: string | null | undefined): Value | typeof UNRECOGNIZED | null;
  function recognize(value: string | null | undefined) {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string') throw new InvalidResponseError(`Expected a text as ${name} from REST`);
    return known.has(value) ? value : UNRECOGNIZED;
  }

  return { ref, recognize };
}
