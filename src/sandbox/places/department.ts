/** Degrees north and degrees east. In Colombia the longitude is negative. */
export type Point = readonly [latitude: number, longitude: number];

/** A natural region of Colombia. */
export type Region = 'ANDEAN' | 'CARIBBEAN' | 'PACIFIC' | 'ORINOQUIA' | 'AMAZONIA' | 'ISLANDS';

/** A department or the capital district. */
export interface Department {
  name: string;
  region: Region;
  /** The approximate centre of its population, for prices by distance. */
  centre: Point;
  /** All municipalities, the capital first, separated by commas: a thousand names are easier to read that way. */
  municipalities: string;
}

/** Splits a comma-separated list of names. */
export function names(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}
