import type { EnumRef } from '@pothos/core';
import { timeMs } from '../../base/date-time.ts';
import { BadInputError } from '../../rest/errors.ts';
import { builder, type SchemaTypes } from '../builder.ts';

/** The extensions of an argument that makes Waybill scan a list, because REST lacks the filter. No stream takes it. */
export const needsScan = { needsScan: true };

/** @param extensions `needsScan` if REST cannot filter the list by its status. */
export const statusArgs = (
  list: string,
  type: EnumRef<SchemaTypes, string, string>,
  extensions: Partial<typeof needsScan> = {},
) =>
  builder.args((t) => ({
    status: t.field({
      type: [type],
      description: `The statuses of the ${list} to return. By default, all statuses.`,
      extensions,
    }),
  }));

/**
 * Sorted and without duplicates. An absent or empty list means no filter.
 * @throws BadInputError for UNRECOGNIZED, which names `argument`
 */
export function statusFilter(
  status: readonly string[] | null | undefined,
  argument = 'status',
): string[] | undefined {
  if (status?.includes('UNRECOGNIZED'))
    throw new BadInputError(`"${argument}" must not contain UNRECOGNIZED, which is for output only.`);
  return status?.length ? [...new Set(status)].sort() : undefined;
}

export const timeArgs = builder.args((t) => ({
  createdSince: t.field({
    type: 'DateTime',
    description: 'Only records that were created at this time or later. By default, records of any age.',
    extensions: needsScan,
  }),
  createdUntil: t.field({
    type: 'DateTime',
    description: 'Only records that were created at this time or earlier. By default, also the newest.',
    extensions: needsScan,
  }),
  updatedSince: t.field({
    type: 'DateTime',
    description:
      'Only records whose last change was at this time or later. By default, records of any age. If few records match, ' +
      'Waybill searches the whole list. Add `createdSince` to end the search earlier.',
    extensions: needsScan,
  }),
  updatedUntil: t.field({
    type: 'DateTime',
    description: 'Only records whose last change was at this time or earlier. By default, also the newest.',
    extensions: needsScan,
  }),
}));

type Time = string | null | undefined;

/** The ranges in milliseconds since 1970. @throws BadInputError for a range that ends before its start */
export function timeRanges(args: Partial<Record<keyof typeof timeArgs, Time>>) {
  const [createdSinceMs, createdUntilMs] = range('created', args.createdSince, args.createdUntil);
  const [updatedSinceMs, updatedUntilMs] = range('updated', args.updatedSince, args.updatedUntil);
  return { createdSinceMs, createdUntilMs, updatedSinceMs, updatedUntilMs };
}

function range(what: string, since: Time, until: Time) {
  const [sinceMs, untilMs] = [timeMs(since), timeMs(until)];
  if (Number(sinceMs) > Number(untilMs))
    throw new BadInputError(
      `Expected "${what}Since" to be no later than "${what}Until", but got ${since} and ${until}.`,
    );
  return [sinceMs, untilMs] as const;
}

/** Whether a filter excludes any row. Without a condition, the list needs no scan. */
export const hasCondition = (filter: object) => Object.values(filter).some((bound) => bound !== undefined);

// Code points. They fit a URL even if each takes 12 bytes there.
const maxCharacters = 256;

/** Checks a search text, because REST gets it in the URL. @throws BadInputError that names `argument` */
export function searchText<Text extends string | null | undefined>(argument: string, text: Text): Text {
  if (typeof text !== 'string') return text;
  // The URL would have U+FFFD in its place.
  if (!text.isWellFormed())
    throw new BadInputError(
      `Expected "${argument}" to be valid Unicode, but it has half of a surrogate pair. Send whole characters.`,
    );
  if (text.length <= maxCharacters) return text;
  // A longer text need not be counted.
  const count = text.length > 2 * maxCharacters ? undefined : [...text].length;
  if (count !== undefined && count <= maxCharacters) return text;
  throw new BadInputError(
    `Expected "${argument}" to have at most ${maxCharacters} characters, but it has ${count ?? `more than ${maxCharacters}`}.`,
  );
}
