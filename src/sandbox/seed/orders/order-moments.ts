import { type Moment, newestFirst } from '../calendar.ts';
import type { Random } from '../random.ts';

/**
 * When the orders came in, newest first: `today` of them today, the others over so many days before, ever more as the
 * shop grows. Within a day most come around two in the afternoon.
 */
export function orderMoments(
  { count, days, today }: { count: number; days: number; today: number },
  random: Random,
): Moment[] {
  const moments = Array.from({ length: count }, (_, index): Moment => {
    // Today's are spread evenly, so that the newest is young at any hour.
    if (index < today) return { daysOld: 0, fraction: (index + random.fraction()) / today };
    const share = random.fraction() ** 1.05;
    return { daysOld: 1 + Math.floor(share * days), fraction: (random.fraction() + random.fraction()) / 2 };
  });
  return moments.sort(newestFirst);
}
