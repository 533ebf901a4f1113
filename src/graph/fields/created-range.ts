import { BadInputError } from '../../rest/errors.ts';
import { builder } from '../builder.ts';

export const createdRangeArgs = builder.args((t) => ({
  createdSince: t.field({
    type: 'DateTime',
    description: 'The earliest time of creation. By default, there is no lower bound.',
  }),
  createdUntil: t.field({
    type: 'DateTime',
    description: 'The latest time of creation. By default, there is no upper bound.',
  }),
}));

type CreatedRange = Partial<Record<keyof typeof createdRangeArgs, string | null | undefined>>;

/** The range in milliseconds since 1970. @throws BadInputError for a range that ends before its start */
export function createdRange({ createdSince, createdUntil }: CreatedRange) {
  const range = { createdSinceMs: toMs(createdSince), createdUntilMs: toMs(createdUntil) };
  if (Number(range.createdSinceMs) > Number(range.createdUntilMs)) {
    throw new BadInputError(
      `Expected "createdSince" to be no later than "createdUntil", but got ${createdSince} and ${createdUntil}.`,
    );
  }
  return range;
}

/** The scalar has checked the form of the time. */
export function toMs(time: string | null | undefined): number | undefined {
  return time === null || time === undefined ? undefined : Date.parse(time);
}
