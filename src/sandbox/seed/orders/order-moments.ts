import { type Moment, newestFirst } from '../calendar.ts';
import type { Random } from '../random.ts';

/**
 * Generates the moments of `count` orders, newest first: `today` orders today and the others over the `days` before.
 * Orders become more frequent over time. Most orders of a day come around two in the afternoon.
 */
export function orderMoments(
  { count, days, today }: { count: number; days: number; today: number },
  random: Random,
): Moment[] {
  const moments = Array.from({ length: count }, (_, index): Moment => {
    // Orders of today are spread evenly, so the newest order is always recent.
    if (index < today) return { daysOld: 0, fraction: (index + random.fraction()) / today };
    const share = random.fraction() ** 1.05;
    return { daysOld: 1 + Math.floor(share * days), fraction: (random.fraction() + random.fraction()) / 2 };
  });
  return moments.sort(newestFirst);
}
