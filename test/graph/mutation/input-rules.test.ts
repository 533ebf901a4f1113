import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  centsAtLeast,
  idempotencyKey,
  locationId,
  recordId,
  textOfLength,
  validateInput,
} from '../../../src/graph/mutation/input-rules.ts';

const notNull = 'must not be null: omit the field instead';

describe('the length of a string', () => {
  const lengthOf = (value: string) => {
    const outcome = validateInput(textOfLength(1_000, 1_000), value);
    return 'errors' in outcome ? outcome.errors[0]?.message.replace(/.*has /, '') : '1000';
  };

  test.each([
    ['characters with one UTF-16 unit', 'Café', '4'],
    ['characters with two UTF-16 units', '🫘🎂', '2'],
    ['characters outside the basic multilingual plane', '𝒙𐐷', '2'],
    ['decomposed characters', 'é'.normalize('NFD'), '2'],
    ['an empty string', '', '0'],
    ['blanks and line breaks', ' \n\u200B', '3'],
    ['half of a surrogate pair', '\uD83E', '1'],
  ])('counts the code points of %s', (_what, value, length) => {
    expect(lengthOf(value)).toBe(length);
  });
});

describe('the bounds of a rule', () => {
  test.each([
    ['accept the shortest string', textOfLength(3, 5), 'abc', []],
    ['accept the longest string', textOfLength(3, 5), 'abcde', []],
    [
      'reject a string that is one character too short',
      textOfLength(3, 5),
      'ab',
      ['must be 3 to 5 characters long, but has 2'],
    ],
    [
      'reject a string that is one character too long',
      textOfLength(3, 5),
      'abcdef',
      ['must be 3 to 5 characters long, but has 6'],
    ],
    ['accept the smallest number', centsAtLeast(0), 0, []],
    ['accept -0', centsAtLeast(0), -0, []],
    ['accept the largest safe integer', centsAtLeast(0), Number.MAX_SAFE_INTEGER, []],
    ['reject a number that is too small by one', centsAtLeast(0), -1, ['must be at least 0, but is -1']],
    ['accept the longest location id', locationId, 'a'.repeat(86), []],
    [
      'reject a location id that is one character too long',
      locationId,
      'a'.repeat(87),
      ['must have at most 96 characters in the form "locations/<identifier>", but has 97'],
    ],
  ])('%s', (_what, rules, value, messages) => {
    const outcome = validateInput(rules, value);
    expect('errors' in outcome ? outcome.errors.map(({ message }) => message) : []).toEqual(messages);
  });
});

test('validateInput turns a record id into the full resource name', () => {
  expect(validateInput(recordId('orders'), 'ca2481')).toEqual({ value: 'orders/ca2481' });
  expect(validateInput(recordId('orders'), 'orders/ca2481')).toEqual({ value: 'orders/ca2481' });
});

describe('a null', () => {
  const rules = v.object({
    required: v.string(),
    left: v.exactOptional(v.string()),
    empty: v.exactOptional(v.nullable(v.string())),
    idempotencyKey,
    list: v.exactOptional(v.array(v.object({ name: v.string() }))),
  });

  test('is rejected if the rules do not allow null', () => {
    const input = { required: null, left: null, list: [{ name: 'a' }, null, { name: null }] };
    expect(validateInput(rules, input)).toEqual({
      errors: ['required', 'left', 'list.1', 'list.2.name'].map((path) => ({
        path,
        message: notNull,
        code: 'NOT_ALLOWED',
      })),
    });
  });

  test('is kept if the rules allow null', () => {
    const all = { required: 'a', left: 'b', empty: null, idempotencyKey: null, list: [] };
    expect(validateInput(rules, all)).toEqual({ value: all });
    const least = validateInput(rules, { required: 'a' });
    expect('value' in least && Object.keys(least.value)).toEqual(['required']);
  });

  test('is rejected with an empty path if it is the whole input', () => {
    expect(validateInput(rules, null)).toEqual({
      errors: [{ path: '', message: notNull, code: 'NOT_ALLOWED' }],
    });
  });
});

test('validateInput reports all errors in the order of the rules', () => {
  const rules = v.object({
    a: textOfLength(1, 1),
    b: v.object({ c: centsAtLeast(0), d: textOfLength(1, 1) }),
    e: textOfLength(1, 1),
  });
  const outcome = validateInput(rules, { e: '', b: { d: '', c: -1 }, a: '' });
  expect('errors' in outcome && outcome.errors.map(({ path }) => path)).toEqual(['a', 'b.c', 'b.d', 'e']);
});

test('validateInput returns the fields in the order of the rules', () => {
  const rules = v.object({ a: v.string(), b: v.exactOptional(v.string()), c: v.string() });
  const outcome = validateInput(rules, { c: '3', a: '1' });
  expect(JSON.stringify(outcome)).toBe('{"value":{"a":"1","c":"3"}}');
});

test('validateInput accepts an object without a prototype', () => {
  const input = Object.assign(Object.create(null), { a: '1' });
  expect(validateInput(v.object({ a: v.string() }), input)).toEqual({ value: { a: '1' } });
});
