import * as v from 'valibot';
import { quoteForMessage } from '../../base/quote-for-message.ts';
import { type Collection, isResourceName, type ResourceName } from '../../rest/resource-name.ts';
import { type InvalidFieldSource, invalidFieldCode } from './user-error.ts';

// The rules of inputs. GraphQL has already validated the types, but accepts null for each optional field. REST does
// not, so such a field is `v.exactOptional`: it may be absent but not null. A client reads each message after the name
// of its field.

const maxLocationLength = 96;
const notNull = 'must not be null: omit the field instead';

type Fault = Omit<InvalidFieldSource, 'path'>;

/** Valibot passes these texts on, and has no place of its own for a code. */
export const toIssue = ({ code, message, limit }: Fault) => ({
  message,
  expected: code,
  received: String(limit ?? ''),
});

/** A rule for valid values of a type. */
export const rule = <Value>(faultOf: (value: Value) => Fault | undefined) =>
  v.rawCheck<Value>(({ dataset, addIssue }) => {
    const fault = dataset.typed ? faultOf(dataset.value) : undefined;
    if (fault !== undefined) addIssue(toIssue(fault));
  });

/** A text of `min` to `max` Unicode code points ("Limits"). */
export const textOfLength = (min: number, max: number) =>
  v.pipe(
    v.string(),
    rule((value: string) => {
      const count = characterCount(value);
      const message = `must be ${min} to ${max} characters long, but has ${count}`;
      if (count < min) return { code: 'TOO_SHORT', message, limit: min };
      return count > max ? { code: 'TOO_LONG', message, limit: max } : undefined;
    }),
  );

/** Counts without a copy of the text, which may have megabytes. */
function characterCount(value: string): number {
  let count = 0;
  for (const _character of value) count += 1;
  return count;
}

export const centsAtLeast = (min: number) =>
  v.pipe(
    v.number(),
    rule((value: number) => {
      const message = `must be at least ${min}, but is ${value}`;
      return value < min ? { code: 'TOO_SMALL', message, limit: min } : undefined;
    }),
  );

/** A text of a certain form. The rule returns the value that `parse` makes of it. */
export const parsed = <Value>(expected: string, parse: (value: string) => Value | undefined) =>
  v.pipe(
    v.string(),
    v.rawTransform(({ dataset: { value }, addIssue, NEVER }): Value => {
      const result = parse(value);
      if (result !== undefined) return result;
      const message = `must be ${expected}, but is ${quoteForMessage(value)}`;
      addIssue(toIssue({ code: 'INVALID_FORMAT', message }));
      return NEVER;
    }),
  );

/**
 * The description of an id that `recordId` or `locationId` accepts. `what` has no full stop, and `note` is a sentence.
 * @example idDescription('The order', 'orders') // The order, `orders/<identifier>` or the bare identifier.
 */
export const idDescription = (what: string, collection: Collection, note = '') => {
  const limit =
    collection === 'locations' ? `At most ${maxLocationLength} characters, including \`locations/\`.` : note;
  return `${what}, \`${collection}/<identifier>\` or the bare identifier. ${limit}`.trimEnd();
};

/**
 * A resource name or a bare identifier. The rule returns the resource name.
 * @example v.object({ order: recordId('orders') }) // "ca2496" becomes "orders/ca2496".
 */
export const recordId = <C extends Collection>(collection: C) =>
  parsed(`an id of the form "${collection}/<identifier>" or a bare identifier`, (id) => {
    const name = id.includes('/') ? id : `${collection}/${id}`;
    return isResourceName(collection, name) ? name : undefined;
  });

/** Only location names have a limit of their own ("Limits"). */
export const locationId = v.pipe(
  recordId('locations'),
  rule((name: ResourceName<'locations'>) => {
    const message = `must have at most ${maxLocationLength} characters in the form "locations/<identifier>", but has ${name.length}`;
    return name.length > maxLocationLength
      ? { code: 'TOO_LONG', message, limit: maxLocationLength }
      : undefined;
  }),
);

/** Null means no key. */
export const idempotencyKey = v.exactOptional(v.nullable(textOfLength(1, 255)));

const remainsUnknown = 'After `OutcomeUnknown`, each retry with this key returns `OutcomeUnknown` again.';

export const keyDescription = (record: string, verb: string, cost: string, afterUnknown = remainsUnknown) =>
  `A key that you choose for this ${record}, 1 to 255 characters, or null. For 24 hours, a retry with the same key and ` +
  `input returns the same ${record} and ${verb} no second one. This retry costs ${cost}. ${afterUnknown}`;

/** Validates an input against its rules, without a REST call. @returns the validated value, or all errors */
export function validateInput<Rules extends v.GenericSchema>(
  rules: Rules,
  input: unknown,
): { value: v.InferOutput<Rules> } | { errors: InvalidFieldSource[] } {
  const { success, output, issues } = v.safeParse(rules, input, {
    message: ({ input, message }) => (input === null ? notNull : message),
  });
  if (success) return { value: output };
  const errors = issues.map((issue): InvalidFieldSource => {
    const { message, expected, received } = issue;
    const path = v.getDotPath(issue) ?? '';
    // GraphQL has validated the types, so an issue without a code is that of a value which is for output only, or null.
    if (expected === null || !invalidFieldCode.isCode(expected))
      return { path, message, code: 'NOT_ALLOWED' };
    return { path, message, code: expected, ...(received === '' ? {} : { limit: Number(received) }) };
  });
  return { errors };
}
