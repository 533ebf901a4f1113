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

// The weights of the ids between each step and the one before it; those beyond come last.
type Weights = readonly number[];

const unlearnedGuess: Weights = [...depthSteps, Number.POSITIVE_INFINITY].map(
  (_, step) => guessWeight * guessedShare(step),
);

// The first batches of fewer may be chance, and would say much of each.
const tenantsForGuess = 20;
// The guess is what decides whether lists are looked at, so that it cannot see for itself that it has become wrong.
const msUntilUnlearned = 600_000;

/**
 * Where to take ids to be of a tenant that has shown nothing yet: where those of other tenants' first batches were, of late.
 * Access tokens are replaced often, and each is a tenant. Knows of no tenant but the sum of all, and that from twenty on.
 */
export interface DepthGuess {
  readonly weights: Weights;
  /** The first batch of a tenant. */
  saw(search: SearchedBatch): void;
}

/** One for all tenants. `now` counts milliseconds, from whenever. */
export function createDepthGuess(now: () => number): DepthGuess {
  return new GuessFromAll(now);
}

class GuessFromAll implements DepthGuess {
  readonly #now: () => number;
  #seen = nothingSeen;
  #learned = unlearnedGuess;
  #tenants = 0;
  #lastSeenAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  get weights(): Weights {
    return this.#isOld() ? unlearnedGuess : this.#learned;
  }

  saw(search: SearchedBatch): void {
    if (this.#isOld()) {
      this.#seen = nothingSeen;
      this.#learned = unlearnedGuess;
      this.#tenants = 0;
    }
    this.#lastSeenAt = this.#now();
    this.#tenants += 1;
    // One tenant's miss says little of the others.
    this.#seen = weightsAfter(this.#seen, search, decay);
    if (this.#tenants < tenantsForGuess) return;
    const scale = guessWeight / sum(this.#seen);
    this.#learned = this.#seen.map((weight) => weight * scale);
  }

  #isOld(): boolean {
    return this.#now() - this.#lastSeenAt >= msUntilUnlearned;
  }
}

const nothingSeen: Weights = unlearnedGuess.map(() => 0);

const nobodySeen: DepthGuess = { weights: unlearnedGuess, saw() {} };

/** `guess`: where ids are taken to be at first. */
export function createDepths(guess = nobodySeen): Depths {
  return new DepthsSeen(guess);
}

/** A class, as each tenant that is remembered has some. */
class DepthsSeen implements Depths {
  /** Until the first batch. */
  #guess: DepthGuess | undefined;
  #weights: Weights;
  #total: number;

  constructor(guess: DepthGuess) {
    this.#guess = guess;
    this.#weights = guess.weights;
    this.#total = sum(this.#weights);
  }

  // Asked for each depth that a page may have, for each batch.
  shareWithin(rowsPerId: number): number {
    let within = 0;
    let start = 0;
    for (let index = 0; index < depthSteps.length && start < rowsPerId; index += 1) {
      const step = depthSteps[index] ?? 0;
      const part = Math.min((rowsPerId - start) / (step - start), 1);
      within += part * (this.#weights[index] ?? 0);
      start = step;
    }
    return within / this.#total;
  }

  saw(search: SearchedBatch): void {
    if (search.asked === 0) return;
    this.#guess?.saw(search);
    this.#guess = undefined;
    this.#weights = weightsAfter(this.#weights, search, isMiss(search) ? decayAfterMiss : decay);
    this.#total = sum(this.#weights);
  }
}

function isMiss({ asked, indices }: SearchedBatch): boolean {
  return indices.length < leastFound * asked;
}

/** What they are with one more batch, where so much of those before is kept. */
function weightsAfter(weights: Weights, search: SearchedBatch, kept: number): Weights {
  const { asked, indices } = search;
  const next = weights.map((weight) => weight * kept);
  for (const index of indices) add(next, stepWith((index + 1) / asked), 1 / asked);
  if (indices.length < asked) addUnfound(next, search);
  return next;
}

function add(weights: number[], step: number, share: number): void {
  weights[step] = (weights[step] ?? 0) + share;
}

function addUnfound(weights: number[], search: SearchedBatch): void {
  const { asked, indices, rowsRead } = search;
  const share = (asked - indices.length) / asked;
  const deeper = [...depthSteps.keys()].filter((step) => startOf(step) >= rowsRead / asked);
  const shareOfDeeper =
    deeper.length === 0 ? 0 : shareDeeper * (isMiss(search) ? deeperBefore(weights, deeper) : 1);
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
