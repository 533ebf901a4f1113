import type { CallTimes } from './call-times.ts';

/** What calls of one resource are expected to be like. */
export interface KnownCalls extends CallTimes {
  /** How many calls of an operation are under way at a time at most. */
  callsAtOnce: number;
  /** The most rows that a page has. */
  maxPageSize: number;
}

/** What a call costs besides the time that it is waited for, in gets. */
const callWeight = 0.25;

/** Of so many rows in as few pages as they fit in, one after the other: their time in milliseconds and their weight. */
export function costOfRows(rows: number, known: KnownCalls): number {
  const pages = Math.ceil(rows / known.maxPageSize);
  return pages * (known.pageMs + weightOfCall(known)) + known.rowMs * rows;
}

/** A count below one is the chance that there is one. */
export function costOfGets(count: number, known: KnownCalls): number {
  return msOfGets(count, known) + weightOfCall(known) * count;
}

export function msOfPage(rows: number, { pageMs, rowMs }: KnownCalls): number {
  return pageMs + rowMs * rows;
}

export function msOfGets(count: number, { getMs, callsAtOnce }: KnownCalls): number {
  return getMs * Math.min(count, Math.max(1, count / callsAtOnce));
}

/** In milliseconds of waiting that would cost as much. */
export function weightOfCall({ getMs }: KnownCalls): number {
  return callWeight * getMs;
}
