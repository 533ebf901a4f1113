const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Colombia has UTC-5 all year. */
const offsetMs = 5 * hourMs;
const opensAtHour = 7;
const openHours = 14;

/**
 * A time relative to today, so that the random choices of the seed do not depend on the clock. Shops are open from
 * 7:00 to 21:00. Today counts from midnight until now.
 */
export interface Moment {
  /** How many days before today. */
  daysOld: number;
  /** The elapsed share of the open hours, from 0. Above 1 is after closing time. Today it is below 1. */
  fraction: number;
}

/** Converts moments to timestamps. */
export interface Calendar {
  /** The moment as an ISO 8601 timestamp in UTC. */
  iso(moment: Moment): string;
}

/** Creates a calendar in which today ends at `now`. */
export function createCalendar(now: Date): Calendar {
  const nowMs = now.getTime();
  const midnightMs = Math.floor((nowMs - offsetMs) / dayMs) * dayMs + offsetMs;
  return {
    iso({ daysOld, fraction }) {
      const startMs = daysOld === 0 ? midnightMs : midnightMs - daysOld * dayMs + opensAtHour * hourMs;
      const lengthMs = daysOld === 0 ? nowMs - midnightMs : openHours * hourMs;
      return new Date(startMs + Math.floor(lengthMs * fraction)).toISOString();
    },
  };
}

/**
 * Returns a moment of the same day, `minutes` later. Steps of less than 180 minutes in total stay before midnight.
 * Today the result always stays before now.
 */
export function later({ daysOld, fraction }: Moment, minutes: number): Moment {
  const share = minutes / (openHours * 60);
  return { daysOld, fraction: daysOld === 0 ? fraction + (1 - fraction) * share : fraction + share };
}

/** A sort order of moments, newest first. */
export function newestFirst(a: Moment, b: Moment): number {
  return a.daysOld - b.daysOld || b.fraction - a.fraction;
}
