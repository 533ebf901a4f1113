import { describe, expect, test } from 'vitest';
import { httpDateMs, isRfc3339, timeMs, toRfc3339 } from '../../src/base/date-time.ts';

describe('a time of the REST service', () => {
  test.each([
    ['JavaScript', '2026-01-15T10:30:00.000Z', '2026-01-15T10:30:00.000Z'],
    ['Java Instant', '2026-01-15T10:30:00.123456789Z', '2026-01-15T10:30:00.123456789Z'],
    ['Java OffsetDateTime', '2026-01-15T10:30-05:00', '2026-01-15T10:30:00-05:00'],
    ['Java ZonedDateTime', '2026-01-15T10:30:00-05:00[America/Bogota]', '2026-01-15T10:30:00-05:00'],
    ['Java Date', '2026-01-15T10:30:00.000+0000', '2026-01-15T10:30:00.000+00:00'],
    ['.NET', '2026-01-15T10:30:00.1234567-05:00', '2026-01-15T10:30:00.1234567-05:00'],
    ['.NET universal', '2026-01-15 10:30:00Z', '2026-01-15T10:30:00Z'],
    ['PHP ATOM', '2026-01-15T10:30:00+00:00', '2026-01-15T10:30:00+00:00'],
    ['PHP ISO8601', '2026-01-15T10:30:00+0530', '2026-01-15T10:30:00+05:30'],
    ['Python isoformat', '2026-01-15T10:30:00.123456+00:00', '2026-01-15T10:30:00.123456+00:00'],
    ['Go RFC3339Nano', '2026-01-15T10:30:00.1-05:00', '2026-01-15T10:30:00.1-05:00'],
    ['Ruby', '2026-01-15 10:30:00 +0000', '2026-01-15T10:30:00+00:00'],
    ['Ruby in UTC', '2026-01-15 10:30:00 UTC', '2026-01-15T10:30:00Z'],
    ['Postgres', '2026-01-15 10:30:00.123456+00', '2026-01-15T10:30:00.123456+00:00'],
    ['ISO 8601 without separators', '20260115T103000Z', '2026-01-15T10:30:00Z'],
    ['ISO 8601 with a comma', '20260115T103000,25-0500', '2026-01-15T10:30:00.25-05:00'],
    ['ISO 8601 with U+2212', '2026-01-15T10:30:00\u221205:00', '2026-01-15T10:30:00-05:00'],
    ['lower case', '2026-01-15t10:30:00z', '2026-01-15T10:30:00Z'],
    ['an unknown offset', '2026-01-15T10:30:00-00:00', '2026-01-15T10:30:00-00:00'],
    ['a leap day', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['a leap day of a century', '2000-02-29T23:59:59Z', '2000-02-29T23:59:59Z'],
    ['the last day of a month', '2026-08-31T10:30:00Z', '2026-08-31T10:30:00Z'],
  ])('becomes RFC 3339 with all digits: %s', (_origin, time, written) => {
    expect(toRfc3339(time)).toBe(written);
    expect(timeMs(time)).toBe(Date.parse(written));
    expect(timeMs(time)).toBeGreaterThan(0);
  });

  test.each([
    ['without a zone', '2026-01-15T10:30:00'],
    ['without a zone or separators', '20260115T103000'],
    ['without a zone, with a blank', '2026-01-15 10:30:00'],
    ['without a time', '2026-01-15'],
    ['with a week', '2026-W03-4T10:30:00Z'],
    ['with the day of a year', '2026-015T10:30:00Z'],
    ['in a year with five digits', '+12026-01-15T10:30:00Z'],
    ['on 30 February', '2026-02-30T10:30:00Z'],
    ['on a leap day of another year', '2026-02-29T10:30:00Z'],
    ['on a leap day of a century that has none', '1900-02-29T10:30:00Z'],
    ['on 31 April', '20260431T103000Z'],
    ['in month 13', '2026-13-01T10:30:00Z'],
    ['in month 0', '2026-00-01T10:30:00Z'],
    ['on day 0', '2026-01-00T10:30:00Z'],
    ['at 24:00', '2026-01-15T24:00:00Z'],
    ['at minute 60', '2026-01-15T10:60:00Z'],
    ['in a leap second', '2016-12-31T23:59:60Z'],
    ['with an offset of 24 hours', '2026-01-15T10:30:00+24:00'],
    ['with an offset of 60 minutes', '2026-01-15T10:30:00+05:60'],
    ['with an empty fraction', '2026-01-15T10:30:00.Z'],
    ['in the form of HTTP', 'Thu, 15 Jan 2026 10:30:00 GMT'],
    ['in seconds', '1768473000'],
    ['with blanks around it', ' 2026-01-15T10:30:00Z '],
    ['with a line break', '2026-01-15T10:30:00Z\n'],
    ['empty', ''],
  ])('is invalid: %s', (_what, time) => {
    expect([toRfc3339(time), timeMs(time), isRfc3339(time)]).toEqual([undefined, undefined, false]);
  });

  test.each([undefined, null, 1_768_473_000, {}, ['2026-01-15T10:30:00Z']])('is invalid: %j', (value) => {
    expect(timeMs(value)).toBeUndefined();
  });

  test('keeps a fraction of any length', () => {
    const time = `2026-01-15T10:30:00.${'123456789'.repeat(10)}+05:30`;
    expect([toRfc3339(time), isRfc3339(time)]).toEqual([time, true]);
    expect(timeMs(time)).toBe(Date.parse('2026-01-15T10:30:00.123+05:30'));
  });
});

describe('RFC 3339', () => {
  test.each(['2026-01-15T10:30:00Z', '2026-01-15t10:30:00.5z', '2026-01-15T10:30:00-00:00'])(
    'includes the form %s',
    (time) => {
      expect(isRfc3339(time)).toBe(true);
    },
  );

  test.each([
    '20260115T103000Z',
    '2026-01-15 10:30:00Z',
    '2026-01-15T10:30:00+0000',
    '2026-01-15T10:30:00+00',
    '2026-01-15T10:30:00,5Z',
    '2026-01-15T10:30Z',
    '2026-01-15T10:30:00Z[UTC]',
    '2026-01-15T10:30:00\u221205:00',
  ])('excludes the form %s', (time) => {
    expect(isRfc3339(time)).toBe(false);
  });
});

describe('httpDateMs', () => {
  test.each([
    'Thu, 15 Jan 2026 10:30:00 GMT',
    'Thursday, 15-Jan-26 10:30:00 GMT',
    'Thu, 15 Jan 2026 10:30:00 +0000',
    '2026-01-15T10:30:00Z',
    '2026-01-15T05:30:00-0500',
  ])('returns the time of the header %s', (header) => {
    expect(httpDateMs(header)).toBe(Date.UTC(2026, 0, 15, 10, 30));
  });

  test.each([
    'soon 1',
    'Thu Jan 15 10:30:00 2026',
    '2026-01-15T10:30:00',
    'Thu, 15 Foo 2026 10:30:00 GMT',
    '',
    7,
    undefined,
  ])('returns undefined for the header %j', (header) => {
    expect(httpDateMs(header)).toBeUndefined();
  });
});
