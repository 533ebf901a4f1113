import { expect, test } from 'vitest';
import { isExactNumber } from '../../src/base/exact-number.ts';

test.each(['0.1', '-0', '9007199254740991', '-9007199254740991', '4503599627370497.5'])(
  '%s is exact',
  (json) => {
    expect(isExactNumber(JSON.parse(json))).toBe(true);
  },
);

test.each([
  '9007199254740992',
  '9007199254740993',
  '-9007199254740993',
  '12345678901234567890.5',
  '1e21',
  '1e400',
  '-1e400',
])('%s is not exact', (json) => {
  expect(isExactNumber(JSON.parse(json))).toBe(false);
});
