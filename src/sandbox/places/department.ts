/** Degrees north and degrees east (Colombia lies west, so the second is negative). */
export type Point = readonly [latitude: number, longitude: number];

export type Region = 'ANDEAN' | 'CARIBBEAN' | 'PACIFIC' | 'ORINOQUIA' | 'AMAZONIA' | 'ISLANDS';

/** A department (or the capital district) and all its municipalities, the capital first. */
export interface Department {
  name: string;
  region: Region;
  /** The middle of where its people live: good enough to price a parcel by. */
  centre: Point;
  /** Separated by commas: a thousand names stay readable as text, not as a column of quotes. */
  municipalities: string;
}

/** Splits a comma-separated list of names. */
export function names(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}
