import { GraphQLError, Kind } from 'graphql';
import { builder } from '../builder.ts';

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
// In UTC, and on a day that every month has: there is such a time, which needs not be parsed to be seen.
const plainDateTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

const isDateTime = (value: unknown) =>
  typeof value === 'string' &&
  (plainDateTime.test(value) || (rfc3339.test(value) && !Number.isNaN(Date.parse(value))));
const isCents = (value: unknown) => Number.isSafeInteger(value);
const isUrl = (value: unknown) => typeof value === 'string' && URL.canParse(value);

builder.scalarType('DateTime', {
  description: 'A point in time in RFC 3339 form, such as `2026-11-02T14:05:00Z`.',
  ...checked<string>(
    'DateTime',
    'a date and time in RFC 3339 form, such as "2026-11-02T14:05:00Z"',
    isDateTime,
  ),
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
});

builder.scalarType('Cents', {
  description:
    'An amount of money as a whole number of cents, exact between -(2^53 - 1) and 2^53 - 1. ' +
    'It is a JSON number that may pass the 32 bits of `Int`.',
  ...checked<number>('Cents', 'a whole number of cents between -(2^53 - 1) and 2^53 - 1', isCents),
});

builder.scalarType('URL', {
  description: 'An absolute URL, such as `https://shop.example/orders/1001`.',
  ...checked<string>('URL', 'an absolute URL', isUrl),
  specifiedByURL: 'https://url.spec.whatwg.org/',
});

/** A scalar whose values go through unchanged, both ways, once they are seen to be what they should be. */
function checked<Value extends string | number>(
  name: string,
  expected: string,
  fits: (value: unknown) => boolean,
) {
  function input(value: unknown): Value {
    // `fits` has just said that it is one.
    if (fits(value)) return value as Value;
    throw new GraphQLError(`Expected ${expected}, but got ${shortened(value)}.`, {
      extensions: { code: 'BAD_USER_INPUT' },
    });
  }
  return {
    serialize(value: unknown): Value {
      if (fits(value)) return value as Value;
      // In the words of GraphQL's own scalars, by which the server knows it.
      throw new TypeError(`${name} cannot represent what is not ${expected}.`);
    },
    parseValue: input,
    parseLiteral(node: { kind: string; value?: unknown }): Value {
      if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return input(Number(node.value));
      return input(node.kind === Kind.STRING ? node.value : undefined);
    },
  };
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
