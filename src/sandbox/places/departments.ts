import { andeanNorth } from './andean-north.ts';
import { andeanSouth } from './andean-south.ts';
import { caribbean } from './caribbean.ts';
import type { Department } from './department.ts';
import { pacific } from './pacific.ts';
import { plainsAndForest } from './plains-and-forest.ts';

/** Colombia's 32 departments and its capital district, in alphabetical order. */
export const departments: readonly Department[] = [
  ...andeanNorth,
  ...andeanSouth,
  ...caribbean,
  ...pacific,
  ...plainsAndForest,
].sort((a, b) => (a.name.normalize('NFD') < b.name.normalize('NFD') ? -1 : 1));
