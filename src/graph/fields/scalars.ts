import { GraphQLError, GraphQLFloat, GraphQLID } from 'graphql';
import { isRfc3339, toRfc3339 } from '../../base/date-time.ts';
import { isExactNumber } from '../../base/exact-number.ts';
import { isWebUrl } from '../../base/web-url.ts';
import { builder } from '../builder.ts';

builder.scalarType('DateTime', {
  description: 'A point in time in RFC 3339 form, such as `2026-11-02T14:05:00Z`.',
  ...checkedScalar<string>('DateTime', 'a date and time in RFC 3339 form, such as "2026-11-02T14:05:00Z"', {
    isValid: (value) => typeof value === 'string' && isRfc3339(value),
    toOutput: (value) => (typeof value === 'string' ? toRfc3339(value) : undefined),
  }),
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
});

builder.scalarType('Cents', {
  description:
    'An amount of money in cents, as a whole JSON number from -(2^53 - 1) to 2^53 - 1. It can exceed the 32 bits of `Int`.',
  ...checkedScalar<number>('Cents', 'a whole number of cents between -(2^53 - 1) and 2^53 - 1', {
    isValid: Number.isSafeInteger,
  }),
});

builder.scalarType('URL', {
  description: 'An absolute URL of `http` or `https`, such as `https://shop.example/orders/1001`.',
  ...checkedScalar<string>('URL', 'an absolute URL that starts with http:// or https://', {
    isValid: isWebUrl,
  }),
  specifiedByURL: 'https://url.spec.whatwg.org/',
});

// GraphQL's own ID and Float take any number that JSON.parse returns. They are changed in place, because Pothos does not
// replace them. An id in a document is a text: it keeps its digits.
GraphQLID.coerceInputValue = exactNumbers(
  GraphQLID.coerceInputValue,
  'Send an id with so many digits as a string.',
);
const smaller = 'Send a smaller number.';
GraphQLFloat.coerceInputValue = exactNumbers(GraphQLFloat.coerceInputValue, smaller);
GraphQLFloat.coerceOutputValue = exactNumbers(GraphQLFloat.coerceOutputValue, smaller);
const floatOfLiteral = GraphQLFloat.coerceInputLiteral?.bind(GraphQLFloat);
GraphQLFloat.coerceInputLiteral = (node) => refuseRounded(floatOfLiteral?.(node), smaller);

/** A coercion that first refuses the numbers of `refuseRounded`. */
function exactNumbers<Value>(coerce: (value: unknown) => Value, advice: string): typeof coerce {
  return (value) => coerce(refuseRounded(value, advice));
}

/** Returns the value. @throws GraphQLError for a number that JSON may have rounded to this one */
function refuseRounded<Value>(value: Value, advice: string): Value {
  if (typeof value !== 'number' || isExactNumber(value)) return value;
  throw new GraphQLError(
    `Expected a number between -(2^53 - 1) and 2^53 - 1, because larger numbers lose digits in JSON. ${advice}`,
    { extensions: { code: 'BAD_USER_INPUT' } },
  );
}

/** A scalar that accepts values unchanged, after a check. `toOutput`: by default, a value is also returned unchanged. */
function checkedScalar<Value extends string | number>(
  name: string,
  expected: string,
  checks: { isValid(value: unknown): boolean; toOutput?(value: unknown): Value | undefined },
) {
  // `isValid` has checked the type.
  const validValue = (value: unknown) => (checks.isValid(value) ? (value as Value) : undefined);
  const { toOutput = validValue } = checks;
  return {
    serialize(value: unknown): Value {
      const output = toOutput(value);
      if (output !== undefined) return output;
      throw new TypeError(`${name} cannot represent this value: expected ${expected}.`);
    },
    parseValue(value: unknown): Value {
      const input = validValue(value);
      if (input !== undefined) return input;
      throw new GraphQLError(`Expected ${expected}, but got ${truncatedJson(value)}.`, {
        extensions: { code: 'BAD_USER_INPUT' },
      });
    },
  };
}

function truncatedJson(value: unknown): string {
  // A number such as 1e400, which JSON would show as null.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    return 'a number that is too large';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
