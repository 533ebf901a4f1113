/**
 * When pages of a list answer a batch of ids for less than one get for each, and how many rows to read.
 *
 * The cost of a way is the time that it takes, in milliseconds, and a quarter of a get's time for each of its calls: a call
 * that nobody waits for is work of the service all the same.
 *
 *     n gets:              getMs × max(1, n ÷ callsAtOnce)  +  n × getMs ÷ 4
 *     r rows in p pages:   p × pageMs + rowMs × r           +  p × getMs ÷ 4
 *
 * As many rows are read as the hit depth of earlier batches says, where these, and gets for the ids that are expected to be
 * left, cost no more than gets for all ids. With one page for each ten ids at most, or one, a batch costs at most 1.2 calls
 * an id, whatever the list holds.
 */

/** Fewer ids than these are asked for one by one: a page without result would cost more than 1.2 calls an id. */
export const minIdsForPage = 5;

const minIdsPerPage = 10;

/** A page that answers less than this share of a batch is hardly better than one that answers nothing. */
export const minShare = 0.1;

/** How deep a trial reads, in rows for each id: most ids of most batches that a list answers at all. */
export const trialDepth = 16;

/** What a call costs besides the time that it is waited for, in gets. */
const callWeight = 0.25;

// Depths are rounded up to these, so that batches of one size ask for equal pages, which operations share.
const depthSteps = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
/** An estimate that is at most this much above a step is taken to be there. */
const stepTolerance = 1.02;

/** The calls of one list and its records. */
export interface CostModel {
  times: CallTimes;
  /** How many calls of an operation run at a time at most. */
  callsAtOnce: number;
  /** The most rows of a page. */
  maxPageSize: number;
}

/** Where the ids of a batch are expected. */
export interface ExpectedHits {
  /** How many rows of the list come before the first that may have one. */
  rowsBefore: number;
  hitDepth: { depth: number; share: number };
}

/** Rows to read from the top of a list. */
export interface Plan {
  rows: number;
  /** The share of the ids that is expected there. */
  share: number;
  /** Where rows that may have ids begin. */
  rowsBefore: number;
  /** Whether it is not expected to pay, and only shows whether it would. */
  isTrial: boolean;
}

/** The rows to read for a batch of so many ids, or undefined where gets for all of them cost less. */
export function planFor(
  idCount: number,
  { rowsBefore, hitDepth }: ExpectedHits,
  costModel: CostModel,
): Plan | undefined {
  if (idCount < minIdsForPage) return undefined;
  const step = depthSteps.find((step) => hitDepth.depth <= step * stepTolerance) ?? hitDepth.depth;
  const rowsForIds = Math.ceil(step * idCount);
  const rows = Math.min(rowsBefore + rowsForIds, maxPagesFor(idCount) * costModel.maxPageSize);
  const share = hitDepth.share * Math.max((rows - rowsBefore) / rowsForIds, 0);
  if (share < minShare) return undefined;
  const cost = costOfRows(rows, costModel) + costOfGets((1 - share) * idCount, costModel);
  return cost <= costOfGets(idCount, costModel) ? { rows, share, rowsBefore, isTrial: false } : undefined;
}

/** One page to see whether the list has the ids of a batch after all. */
export function trialFor(idCount: number, { maxPageSize }: CostModel): Plan | undefined {
  if (idCount < minIdsForPage) return undefined;
  return { rows: Math.min(trialDepth * idCount, maxPageSize), share: 0, rowsBefore: 0, isTrial: true };
}

/** The most pages that are asked for to answer so many ids. */
export function maxPagesFor(idCount: number): number {
  return Math.max(1, Math.floor(idCount / minIdsPerPage));
}

// A pause of this process or of the service must not make a page late.
const minTimeLimitMs = 200;
// While no call of the service has been seen.
const initialTimeLimitMs = 1_000;

/**
 * How long a page is waited for, in milliseconds: twice as long as it or gets for all ids are expected to take, whichever
 * takes longer. So a service that slows down as a whole is not asked for everything again.
 */
export function timeLimitMs(rows: number, idCount: number, costModel: CostModel): number {
  if (!costModel.times.isKnown) return initialTimeLimitMs;
  return Math.max(2 * Math.max(costModel.times.msOfPage(rows), msOfGets(idCount, costModel)), minTimeLimitMs);
}

function costOfRows(rows: number, { times, maxPageSize }: CostModel): number {
  const pages = Math.ceil(rows / maxPageSize);
  return times.msOfPage(rows) + (pages - 1) * times.msOfPage(0) + pages * callWeight * times.getMs;
}

/** A count below one is the chance that there is one. */
function costOfGets(count: number, costModel: CostModel): number {
  return msOfGets(count, costModel) + count * callWeight * costModel.times.getMs;
}

function msOfGets(count: number, { times, callsAtOnce }: CostModel): number {
  return times.getMs * Math.min(count, Math.max(1, count / callsAtOnce));
}

// Each row of a page is taken to last this share of a get.
const rowTimePerGet = 1 / 200;
// What else this process or the service does only makes a call longer. So a short time tells more, and one call raises the
// average by a tenth at most.
const weightOfShorter = 0.5;
const weightOfLonger = 0.1;

/** How long the calls of one list and its records take, for one tenant: moving averages, in milliseconds. */
export class CallTimes {
  #getMs: number | undefined;
  /** Of a page without its rows. */
  #pageMs: number | undefined;

  /** Whether a call has been seen. Until then a get is the unit. */
  get isKnown(): boolean {
    return this.#getMs !== undefined;
  }

  get getMs(): number {
    return this.#getMs ?? 1;
  }

  msOfPage(rows: number): number {
    return (this.#pageMs ?? this.getMs) + rows * rowTimePerGet * this.getMs;
  }

  /** @param ms that a get took, or several on average. */
  observeGet(ms: number): void {
    this.#getMs = averageWith(ms, this.#getMs);
  }

  observePage(rows: number, ms: number): void {
    this.#getMs ??= ms / (1 + rows * rowTimePerGet);
    // At least its share of a page whose rows take as long as they are taken to: an average of 0 would stay 0.
    const minMs = ms / (1 + rows * rowTimePerGet);
    this.#pageMs = averageWith(Math.max(ms - rows * rowTimePerGet * this.#getMs, minMs), this.#pageMs);
  }
}

function averageWith(newest: number, average: number | undefined): number {
  if (average === undefined) return newest;
  if (newest < average) return average + (newest - average) * weightOfShorter;
  return average + (Math.min(newest, 2 * average) - average) * weightOfLonger;
}
