// One rule of what a time is: the graph, the filters, the writes, the drift watch and the doctor read times by it.

/** A time in UTC on day 1 to 28, which every month has: the most common form, which needs no further check. */
const simpleUtcTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/**
 * A date and time of ISO 8601 with a zone, in the forms that common frameworks write: with or without separators, a
 * blank in place of the T, a decimal comma, no seconds (Java), `UTC` (Ruby), or the name of the zone at the end (Java).
 * U+2212 is the minus sign of ISO 8601.
 */
const isoTime = new RegExp(
  [
    /^(?<year>\d{4})-?(?<month>\d\d)-?(?<day>\d\d)[Tt ]/,
    /(?<hour>\d\d):?(?<minute>\d\d)(?::?(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?/,
    / ?(?:[Zz]|UTC|(?<sign>[+\-\u2212])(?<zoneHour>\d\d)(?::?(?<zoneMinute>\d\d))?)(?:\[[^[\]]+\])*$/,
  ]
    .map(({ source }) => source)
    .join(''),
);

const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysIn(year: number, month: number): number {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeapYear ? 29 : (daysOfMonths[month - 1] ?? 0);
}

/**
 * Writes an ISO 8601 time in RFC 3339 form, with all its digits and its offset ("Conventions").
 * @returns undefined for a time without a zone, for a day, hour or second 60 that does not exist, and for other texts
 */
export function toRfc3339(time: string): string | undefined {
  if (simpleUtcTime.test(time)) return time;
  const parts = isoTime.exec(time)?.groups;
  if (parts === undefined) return undefined;
  const {
    year,
    month,
    day,
    hour,
    minute,
    second = '00',
    fraction,
    sign,
    zoneHour,
    zoneMinute = '00',
  } = parts;
  const doesExist =
    Number(day) >= 1 &&
    Number(day) <= daysIn(Number(year), Number(month)) &&
    Number(hour) <= 23 &&
    Number(minute) <= 59 &&
    Number(second) <= 59 &&
    Number(zoneHour ?? 0) <= 23 &&
    Number(zoneMinute) <= 59;
  if (!doesExist) return undefined;
  const zone = sign === undefined ? 'Z' : `${sign === '+' ? '+' : '-'}${zoneHour}:${zoneMinute}`;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}${zone}`;
}

/** Whether a text is a time in RFC 3339 form that exists. Its `T` and `Z` may be in lower case. */
export function isRfc3339(time: string): boolean {
  return toRfc3339(time) === time.toUpperCase();
}

/** The milliseconds since 1970 of a time that `toRfc3339` reads. Undefined for all other values. */
export function timeMs(time: unknown): number | undefined {
  const written = typeof time === 'string' ? toRfc3339(time) : undefined;
  return written === undefined ? undefined : Date.parse(written);
}

/** A date of RFC 9110, also in its older form. `Date.parse` alone also reads "soon 1", and a date without a zone. */
const httpDate =
  /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](?:\d\d|\d{4}) \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})$/;

/** The milliseconds since 1970 of a `date` header. Some services send the header in a form of `toRfc3339`. */
export function httpDateMs(header: unknown): number | undefined {
  const ms = typeof header === 'string' && httpDate.test(header) ? Date.parse(header) : timeMs(header);
  return Number.isNaN(ms) ? undefined : ms;
}
