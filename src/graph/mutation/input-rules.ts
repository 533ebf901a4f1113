import * as v from 'valibot';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import { BadInputError } from '../../rest/errors.ts';
import { type Collection, type ResourceName, resourceName } from '../../rest/resource-name.ts';
import type { InvalidFieldSource } from './user-error.ts';

// The rules of inputs. GraphQL has already validated the types, but accepts null for each optional field. REST does not.
// A client reads each message after the name of its field.

const notNull = 'must not be null: leave it out instead';

export const text = v.string(notNull);
export const boolean = v.boolean(notNull);
export const number = v.number(notNull);
export const object = <Entries extends v.ObjectEntries>(entries: Entries) => v.object(entries, notNull);
export const list = <Item extends v.GenericSchema>(item: Item) => v.array(item, notNull);
/** A field that may be absent but not null. */
export const optional = v.exactOptional;
export const nullable = v.nullable;

/** A text of `min` to `max` Unicode code points ("Limits"). */
export const textOfLength = (min: number, max: number) =>
  v.pipe(
    text,
    v.check(
      (value) => {
        const count = characterCount(value);
        return count >= min && count <= max;
      },
      ({ input }) => `must be ${min} to ${max} characters long, but has ${characterCount(input)}`,
    ),
  );

/** Counts without a copy of the text, which may have megabytes. */
function characterCount(value: string): number {
  let count = 0;
  for (const _character of value) count += 1;
  return count;
}

export const centsAtLeast = (min: number) =>
  v.pipe(
    number,
    v.check(
      (value) => value >= min,
      ({ input }) => `must be at least ${min}, but is ${input}`,
    ),
  );

/**
 * A resource name or a bare identifier. The rule returns the resource name.
 * @param maxLength the most characters of the resource name
 */
export const recordId = <C extends Collection>(collection: C, maxLength = Number.POSITIVE_INFINITY) =>
  v.pipe(
    text,
    v.rawTransform(({ dataset: { value }, addIssue, NEVER }): ResourceName<C> => {
      const name = nameOrUndefined(collection, value);
      if (name !== undefined && name.length <= maxLength) return name;
      addIssue({
        message:
          name === undefined
            ? `must be the id of one of ${collection}, "${collection}/<identifier>" or the identifier, but is ${quoteForMessage(value)}`
            : `must have at most ${maxLength} characters as "${collection}/<identifier>", but has ${name.length}`,
      });
      return NEVER;
    }),
  );

function nameOrUndefined<C extends Collection>(collection: C, id: string): ResourceName<C> | undefined {
  try {
    return resourceName(collection, id);
  } catch (error) {
    if (error instanceof BadInputError) return undefined;
    throw error;
  }
}

/** Only location names have a limit of their own ("Limits"). */
export const locationId = recordId('locations', 96);

/** Null means no key. */
export const idempotencyKey = optional(nullable(textOfLength(1, 255)));

export const keyDescription = (record: string, verb: string, cost: string) =>
  `A key that you choose for this ${record}, 1 to 255 characters. For 24 hours, a retry with the same key and input ` +
  `returns the same ${record} and ${verb} no other. A retry costs ${cost}.`;

/** Validates an input against its rules, without a REST call. @returns the validated value, or all errors */
export function validateInput<Rules extends v.GenericSchema>(
  rules: Rules,
  input: unknown,
): { value: v.InferOutput<Rules> } | { errors: InvalidFieldSource[] } {
  const { success, output, issues } = v.safeParse(rules, input);
  if (success) return { value: output };
  return { errors: issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', message: issue.message })) };
}
