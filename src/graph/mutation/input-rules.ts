import * as v from 'valibot';
import { BadInputError } from '../../rest/errors.ts';
import {
  type Collection,
  quoteForMessage,
  type ResourceName,
  resourceName,
} from '../../rest/resource-name.ts';
import type { InvalidFieldSource } from './user-error.ts';

/**
 * The building blocks of the validation rules of inputs. GraphQL has already validated the types. For every optional
 * field, GraphQL accepts an explicit null and REST does not: these rules reject the null.
 * A client reads each error message after the name of its field.
 */

const notNull = 'must not be null: leave it out instead';

/** A text of any length. */
export const text = v.string(notNull);
/** True or false. */
export const boolean = v.boolean(notNull);
/** A number of any size. */
export const number = v.number(notNull);

/** An input object with these fields. A field wrapped in `optional` may be absent. */
export const objectOf = <Entries extends v.ObjectEntries>(entries: Entries) => v.object(entries, notNull);
/** A list of any length. */
export const listOf = <Item extends v.GenericSchema>(item: Item) => v.array(item, notNull);
/** A field that may be absent but not null. */
export const optional = <Schema extends v.GenericSchema>(schema: Schema) => v.exactOptional(schema);
/** A value that may be null. */
export const nullable = <Schema extends v.GenericSchema>(schema: Schema) => v.nullable(schema);

/** A text of `min` to `max` characters ("Limits"). A character is a Unicode code point, not a UTF-16 unit. */
export const textOfLength = (min: number, max: number) =>
  v.pipe(
    text,
    v.check(
      (value) => isWithin(lengthOf(value), min, max),
      ({ input }) => `must be ${min} to ${max} characters long, but has ${lengthOf(input)}`,
    ),
  );

/** Counts code points. It does not copy the text, which may have megabytes. */
function lengthOf(value: string): number {
  let length = 0;
  for (const _character of value) length += 1;
  return length;
}

/** An amount of at least `min` cents. */
export const centsAtLeast = (min: number) =>
  v.pipe(
    number,
    v.check(
      (value) => value >= min,
      ({ input }) => `must be at least ${min}, but is ${input}`,
    ),
  );

/**
 * An id of a collection: a resource name or a bare identifier. The rule returns the resource name.
 * @param maxLength the most characters of the resource name; no limit by default
 */
export const idOf = <C extends Collection>(collection: C, maxLength = Number.POSITIVE_INFINITY) =>
  v.pipe(
    text,
    v.rawTransform(({ dataset: { value }, addIssue, NEVER }): ResourceName<C> => {
      const name = nameOrUndefined(collection, value);
      if (name !== undefined && name.length <= maxLength) return name;
      addIssue({
        message:
          name === undefined
            ? `must be the id of one of ${collection}, "${collection}/<identifier>" or the identifier alone, but is ${quoteForMessage(value)}`
            : `must have at most ${maxLength} characters as "${collection}/<identifier>", but has ${name.length}`,
      });
      return NEVER;
    }),
  );

/** A location id. Only location names have a limit of their own ("Limits"). */
export const locationId = idOf('locations', 96);

/** The client's idempotency key of a write. Null means no key. */
export const idempotencyKey = v.exactOptional(v.nullable(textOfLength(1, 255)));

/** The validated value of an input, or all its errors. */
export type ValidationResult<Output> = { value: Output } | { errors: InvalidFieldSource[] };

/** Validates an input against its rules, without a REST call. */
export function validateInput<Rules extends v.GenericSchema>(
  rules: Rules,
  input: unknown,
): ValidationResult<v.InferOutput<Rules>> {
  const { success, output, issues } = v.safeParse(rules, input);
  if (success) return { value: output };
  return { errors: issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', message: issue.message })) };
}

function nameOrUndefined<C extends Collection>(collection: C, id: string): ResourceName<C> | undefined {
  try {
    return resourceName(collection, id);
  } catch (error) {
    if (error instanceof BadInputError) return undefined;
    throw error;
  }
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}
