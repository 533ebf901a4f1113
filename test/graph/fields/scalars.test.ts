import fc from 'fast-check';
import { isScalarType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';

const dateTime = schema.getType('DateTime');

/** Whether the scalar serializes a text. */
function isGivenOut(text: string): boolean {
  if (!isScalarType(dateTime)) throw new Error('DateTime is no scalar');
  try {
    return dateTime.serialize(text) === text.toUpperCase();
  } catch {
    return false;
  }
}

test.each(['2026-11-02T14:05:00Z', '2026-11-30t23:59:59.123456789z', '2024-02-29T00:00:00-05:00'])(
  'DateTime accepts %s',
  (text) => expect(isGivenOut(text)).toBe(true),
);

test.each(['2026-11-02', '2026-11-02 14:05:00Z', '2026-13-02T14:05:00Z', '2026-11-02T14:65:00Z', 'soon'])(
  'DateTime rejects %s',
  (text) => expect(isGivenOut(text)).toBe(false),
);

test('DateTime accepts exactly the RFC 3339 times that exist', () => {
  // Date.parse also reads 30 February, and an hour of 24.
  const exists = (time: string) =>
    new Date(`${time.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(time.slice(8, 10)) &&
    Number(time.slice(11, 13)) < 24 &&
    !Number.isNaN(Date.parse(time.toUpperCase()));
  const digits = (most: number) => fc.nat(most).map((number) => String(number).padStart(2, '0'));
  const text = fc
    .tuple(digits(14), digits(33), fc.constantFrom('T', 't'), digits(25), digits(61), digits(61))
    .map(([month, day, t, hour, minute, second]) => `2026-${month}-${day}${t}${hour}:${minute}:${second}`);
  const end = fc.constantFrom('Z', 'z', '.5Z', '.123456789012Z', '+05:00');
  fc.assert(
    fc.property(text, end, (text, end) => isGivenOut(text + end) === exists(text + end)),
    { numRuns: 2_000 },
  );
});
