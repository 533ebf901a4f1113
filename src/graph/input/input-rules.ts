import * as v from 'valibot';
import { BadInputError } from '../../rest/errors.ts';
import { type Collection, type ResourceName, resourceName, shown } from '../../rest/resource-name.ts';
import type { InvalidFieldSource } from './user-error.ts';

/**
 * The parts of which the rules of the inputs are made. GraphQL has seen to the types already, so that what is left of
 * these is that GraphQL takes an explicit null for every field that may be left out, and REST does not.
 * A message is read after the name of its field.
 */

const notNull = 'must not be null: leave it out instead';

export const text = v.string(notNull);
export const flag = v.boolean(notNull);
export const amount = v.number(notNull);

/** What has these fields; a field that is wrapped in `optional` may be left out. */
export const fields = <Entries extends v.ObjectEntries>(entries: Entries) => v.object(entries, notNull);
export const listOf = <Item extends v.GenericSchema>(item: Item) => v.array(item, notNull);
export const optional = <Schema extends v.GenericSchema>(schema: Schema) => v.exactOptional(schema);
export const nullable = <Schema extends v.GenericSchema>(schema: Schema) => v.nullable(schema);

/** A text of so many characters, counted as people do and not in the units of UTF-16 ("Limits"). */
export const textOf = (least: number, most: number) =>
  v.pipe(
    text,
    v.check(
      (value) => isWithin(lengthOf(value), least, most),
      ({ input }) => `must be ${least} to ${most} characters long, but has ${lengthOf(input)}`,
    ),
  );

/** In characters, without a copy of what may be megabytes. */
function lengthOf(value: string): number {
  let length = 0;
  for (const _character of value) length += 1;
  return length;
}

/** An amount in cents of at least `least`. */
export const centsFrom = (least: number) =>
  v.pipe(
    amount,
    v.check(
      (value) => value >= least,
      ({ input }) => `must be at least ${least}, but is ${input}`,
    ),
  );

/** An id of a collection, whole or bare, which comes out as the resource name; at most `maxLength` characters of it. */
export const idOf = <C extends Collection>(collection: C, maxLength = Number.POSITIVE_INFINITY) =>
  v.pipe(
    text,
    v.rawTransform(({ dataset: { value }, addIssue, NEVER }): ResourceName<C> => {
      const name = nameOrUndefined(collection, value);
      if (name !== undefined && name.length <= maxLength) return name;
      addIssue({
        message:
          name === undefined
            ? `must be the id of one of ${collection}, "${collection}/<identifier>" or the identifier alone, but is ${shown(value)}`
            : `must have at most ${maxLength} characters as "${collection}/<identifier>", but has ${name.length}`,
      });
      return NEVER;
    }),
  );

/** A location's resource name is the one that has a limit of its own ("Limits"). */
export const locationId = idOf('locations', 96);

/** The client's own key of a write; null counts as none. */
export const idempotencyKey = v.exactOptional(v.nullable(textOf(1, 255)));

/** What an input comes out as, or every fault of it. */
export type Checked<Output> = { value: Output } | { errors: InvalidFieldSource[] };

/** Holds an input against its rules, without a call. */
export function checked<Rules extends v.GenericSchema>(
  rules: Rules,
  input: unknown,
): Checked<v.InferOutput<Rules>> {
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

function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
