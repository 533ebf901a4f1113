/**
 * How far down their list the ids of a batch have been found, as rows of the list for each id of the batch: 75 ids within
 * the newest 150 rows are within 2. Measured so, what is learned from small batches holds for large ones.
 */
export interface Depths {
  /** The share of a batch's ids to expect within so many rows for each of them. */
  shareWithin(rowsPerId: number): number;
  saw(search: SearchedBatch): void;
}

/** A batch of ids that was looked for in a list. */
export interface SearchedBatch {
  /** How many ids it had. */
  asked: number;
  /** The rows that had them, counted from 0. */
  indices: readonly number[];
  /** How many rows were looked through; infinitely many where what is not among them is nowhere in the list. */
  rowsRead: number;
}

/** The depths that are told apart. What lies deeper than the last, or is not there at all, is beyond. */
export const depthSteps: readonly number[] = [
  0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128,
];

// The weights of older batches then add up to 20.
const decay = 0.95;
// A batch of which the list had less than a tenth says that things are no longer as they were: two of them in a row
// outweigh whatever was before.
const decayAfterMiss = 0.05;
const leastFound = 0.1;

// Before anything is known, ids are taken to be anywhere in the newest two rows for each.
const guessedDepth = 2;
// Of what is guessed, beside 1 for a batch that was seen: soon outweighed.
const guessWeight = 0.5;

// What was not found in the rows that were read is taken to be nowhere to one half, and anywhere deeper to the other: so
// that a deeper look may seem worth it, and teaches the rest. Each time that almost all of a batch is missed, deeper is half
// as likely as it was: a list whose end is never reached would otherwise be looked through in vain for ever.
const shareDeeper = 0.5;

/** The weights of the ids between each step and the one before it; those beyond come last. */
export type Weights = readonly number[];

const unlearned: Weights = [...depthSteps, Number.POSITIVE_INFINITY].map(
  (_, step) => guessWeight * guessedShare(step),
);

export const noWeights: Weights = unlearned.map(() => 0);

/** What the ids of tenants are taken to be like of which nothing is known: what those of many others were like, taken together. */
export interface DepthGuess {
  /** For one more tenant; undefined for one that is to show where its ids are without. */
  next(): Weights | undefined;
  /** The first batch of such a tenant. */
  saw(search: SearchedBatch): void;
}

/** `guess`: where ids are taken to be at first; within two rows for each when left out. */
export function createDepths(guess?: DepthGuess): Depths {
  return new DepthsSeen(guess);
}

/** A class, as each tenant that is remembered has some. */
class DepthsSeen implements Depths {
  readonly #guess: DepthGuess | undefined;
  /** Undefined until they are asked for: the guess is to be that of then. */
  #weights: Weights | undefined;
  #total = 0;
  #isToShow = false;

  constructor(guess: DepthGuess | undefined) {
    this.#guess = guess;
  }

  // Asked for each depth that a page may have, for each batch.
  shareWithin(rowsPerId: number): number {
    const weights = this.#weights ?? this.#begin();
    let within = 0;
    let start = 0;
    for (let index = 0; index < depthSteps.length && start < rowsPerId; index += 1) {
      const step = depthSteps[index] ?? 0;
      const part = Math.min((rowsPerId - start) / (step - start), 1);
      within += part * (weights[index] ?? 0);
      start = step;
    }
    return within / this.#total;
  }

  saw(search: SearchedBatch): void {
    if (search.asked === 0) return;
    const before = this.#weights ?? this.#begin();
    if (this.#isToShow) this.#guess?.saw(search);
    this.#isToShow = false;
    this.#become(weightsAfter(before, search));
  }

  #begin(): Weights {
    const guessed = this.#guess?.next();
    this.#isToShow = guessed === undefined;
    return this.#become(guessed ?? unlearned);
  }

  #become(weights: Weights): Weights {
    this.#weights = weights;
    this.#total = sum(weights);
    return weights;
  }
}

/** With one more batch, of which only those count that were found. */
export function withFound(weights: Weights, { asked, indices }: SearchedBatch, kept = decay): number[] {
  const next = weights.map((weight) => weight * kept);
  for (const index of indices) add(next, stepWith((index + 1) / asked), 1 / asked);
  return next;
}

/** Of the same shape, and soon outweighed. */
export function asGuess(weights: Weights): Weights {
  const scale = guessWeight / sum(weights);
  return weights.map((weight) => weight * scale);
}

function weightsAfter(before: Weights, search: SearchedBatch): Weights {
  const { asked, indices, rowsRead } = search;
  const isMiss = indices.length < leastFound * asked;
  const next = withFound(before, search, isMiss ? decayAfterMiss : decay);
  if (indices.length < asked) addUnfound(next, (asked - indices.length) / asked, rowsRead / asked, isMiss);
  return next;
}

function add(weights: number[], step: number, share: number): void {
  weights[step] = (weights[step] ?? 0) + share;
}

function addUnfound(weights: number[], share: number, depthRead: number, isMiss: boolean): void {
  const deeper = [...depthSteps.keys()].filter((step) => startOf(step) >= depthRead);
  const shareOfDeeper = deeper.length === 0 ? 0 : shareDeeper * (isMiss ? deeperBefore(weights, deeper) : 1);
  for (const step of deeper) add(weights, step, (share * shareOfDeeper) / deeper.length);
  add(weights, depthSteps.length, share * (1 - shareOfDeeper));
}

/** Of what was taken to be in these steps or nowhere, the share that was taken to be in them; 1 where nothing was. */
function deeperBefore(weights: Weights, deeper: readonly number[]): number {
  const nowhere = weights[depthSteps.length] ?? 0;
  if (nowhere === 0) return 1;
  const there = sum(deeper.map((step) => weights[step] ?? 0));
  return there / (there + nowhere);
}

/** The step whose depth holds this many rows for each id. */
function stepWith(rowsPerId: number): number {
  let step = 0;
  while (step < depthSteps.length && rowsPerId > (depthSteps[step] ?? 0)) step += 1;
  return step;
}

function startOf(step: number): number {
  return step === 0 ? 0 : (depthSteps[step - 1] ?? 0);
}

function guessedShare(step: number): number {
  const end = depthSteps[step] ?? Number.POSITIVE_INFINITY;
  return end <= guessedDepth ? (end - startOf(step)) / guessedDepth : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
