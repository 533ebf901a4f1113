import { GraphQLError } from 'graphql';
import { builder } from '../builder.ts';

const rfc3339DateTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
// A time in UTC on day 1 to 28, which every month has. Such a time exists, so the slower Date.parse is not needed.
const simpleUtcDateTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

const isDateTime = (value: unknown) =>
  typeof value === 'string' &&
  (simpleUtcDateTime.test(value) || (rfc3339DateTime.test(value) && !Number.isNaN(Date.parse(value))));
const isCents = (value: unknown) => Number.isSafeInteger(value);
const isUrl = (value: unknown) => typeof value === 'string' && URL.canParse(value);

builder.scalarType('DateTime', {
  description: 'A point in time in RFC 3339 form, such as `2026-11-02T14:05:00Z`.',
  ...checkedScalar<string>(
    'DateTime',
    'a date and time in RFC 3339 form, such as "2026-11-02T14:05:00Z"',
    isDateTime,
  ),
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
});

builder.scalarType('Cents', {
  description:
    'An amount of money in cents, as a whole JSON number from -(2^53 - 1) to 2^53 - 1. It can exceed the 32 bits of `Int`.',
  ...checkedScalar<number>('Cents', 'a whole number of cents between -(2^53 - 1) and 2^53 - 1', isCents),
});

builder.scalarType('URL', {
  description: 'An absolute URL, such as `https://shop.example/orders/1001`.',
  ...checkedScalar<string>('URL', 'an absolute URL', isUrl),
  specifiedByURL: 'https://url.spec.whatwg.org/',
});

/** A scalar that accepts and returns values unchanged, after a check. */
function checkedScalar<Value extends string | number>(
  name: string,
  expected: string,
  isValid: (value: unknown) => boolean,
) {
  return {
    serialize(value: unknown): Value {
      if (isValid(value)) return value as Value;
      throw new TypeError(`${name} cannot represent this value: expected ${expected}.`);
    },
    parseValue(value: unknown): Value {
      // `isValid` has checked the type.
      if (isValid(value)) return value as Value;
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
