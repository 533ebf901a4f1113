import type { GraphQLError } from 'graphql';
import { limitExceeded } from './limit-exceeded.ts';
import type { Limits } from './limits.ts';

/** The values of variables as they were sent, before they are held against their types. */
export type RawVariables = Readonly<Record<string, unknown>>;

type Nested = RawVariables | readonly unknown[];

/** How large all values are together. */
export interface ValueSize {
  /** Fields and items. */
  values: number;
  /** Of texts and names of fields. */
  characters: number;
}

/**
 * The size of values, or the refusal of such as are too large, whatever their types. It stands before they are held
 * against these, as each fault of a value is told with the object around it, and costs as much as that is large.
 */
export function valueSizeWithin(limits: Limits, variables: RawVariables): ValueSize | GraphQLError {
  const seen: ValueSize = { values: 0, characters: 0 };
  // A document may have more variables than any object has fields.
  const refusal = ofFields(limits, variables, Number.POSITIVE_INFINITY, 1, seen);
  if (refusal !== undefined) return refusal;
  if (seen.characters <= limits.valueCharacters) return seen;
  return limitExceeded('valueCharacters', limits.valueCharacters, seen.characters);
}

function ofNested(limits: Limits, value: Nested, depth: number, seen: ValueSize): GraphQLError | undefined {
  if (depth > limits.nesting) return limitExceeded('nesting', limits.nesting, `more than ${limits.nesting}`);
  if (isList(value)) {
    if (value.length > limits.listItems) {
      return limitExceeded('listItems', limits.listItems, value.length);
    }
    for (const item of value) {
      const refusal = ofValue(limits, item, depth, seen);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
  return ofFields(limits, value, limits.inputFields, depth, seen);
}

function ofFields(
  limits: Limits,
  value: RawVariables,
  most: number,
  depth: number,
  seen: ValueSize,
): GraphQLError | undefined {
  const names = Object.keys(value);
  if (names.length > most) return limitExceeded('inputFields', most, names.length);
  for (const name of names) {
    seen.characters += name.length;
    const refusal = ofValue(limits, value[name], depth, seen);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function ofValue(limits: Limits, value: unknown, depth: number, seen: ValueSize): GraphQLError | undefined {
  seen.values += 1;
  if (seen.values > limits.values)
    return limitExceeded('values', limits.values, `more than ${limits.values}`);
  if (typeof value === 'string') seen.characters += value.length;
  return isNested(value) ? ofNested(limits, value, depth + 1, seen) : undefined;
}

function isNested(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null;
}

function isList(value: Nested): value is readonly unknown[] {
  return Array.isArray(value);
}
