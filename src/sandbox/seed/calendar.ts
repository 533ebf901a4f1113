const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Colombia keeps UTC-5 all year. */
const offsetMs = 5 * hourMs;
const opensAtHour = 7;
const openHours = 14;

/**
 * When something happened, told without a clock: how many days before today, and how far into that day's open hours
 * (7:00 to 21:00; today's hours end now). The seed chooses moments, so that its choices are the same at any time.
 */
export interface Moment {
  daysOld: number;
  /** From 0; past 1 is later that evening. Today it stays below 1. */
  fraction: number;
}

export interface Calendar {
  /** ISO 8601, in UTC. */
  iso(moment: Moment): string;
}

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

/** So many minutes later that day: before midnight where such steps add up to less than 180, and today always before now. */
export function later({ daysOld, fraction }: Moment, minutes: number): Moment {
  const share = minutes / (openHours * 60);
  return { daysOld, fraction: daysOld === 0 ? fraction + (1 - fraction) * share : fraction + share };
}

/** Orders two moments newest first. */
export function newestFirst(one: Moment, other: Moment): number {
  return one.daysOld - other.daysOld || other.fraction - one.fraction;
}
