/**
 * Step 1 of a list batch: decides whether list pages cost less than one GET per id, and how many rows to read.
 *
 * The cost is the expected waiting time in milliseconds, plus a quarter of a GET's time for each call. That quarter
 * stands for the load on the service, which parallel calls cause too.
 *
 *     n GETs:              getMs × max(1, n ÷ callsAtOnce)  +  n × getMs ÷ 4
 *     r rows in p pages:   p × pageMs + rowMs × r           +  p × getMs ÷ 4
 *
 * The hit depth of earlier batches gives the number of rows. Pages are read if these rows, and GETs for the ids
 * expected to be missing, cost no more than GETs for all ids.
 * A batch may read one page per ten ids, and at least one page. So a batch costs at most 1.2 calls per id, even if
 * the list holds none of its ids.
 */

/** Smaller batches use GETs: one page without hits would cost more than 1.2 calls per id. */
export const minIdsForPage = 5;

const minIdsPerPage = 10;

/** A page with a smaller share of hits is hardly better than a page without hits. */
export const minShare = 0.1;

/** The depth of a trial, in rows per id. If a list holds a batch at all, most of its ids lie within this depth. */
export const trialDepth = 16;

/** The cost of a call besides its waiting time, as a fraction of a GET's time. */
const callWeight = 0.25;

// Depths are rounded up to these steps: batches of equal size then request equal pages, which operations can share.
const depthSteps = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
/** An estimate up to this factor above a step counts as that step. */
const stepTolerance = 1.02;

/** The figures that the cost of pages and GETs depends on. */
export interface CostModel {
  times: CallTimes;
  /** An operation runs at most this many calls at a time. */
  callsAtOnce: number;
  /** The most rows of one page. */
  maxPageSize: number;
}

/** Where in the list the ids of a batch are expected. */
export interface ExpectedHits {
  /** The number of list rows before the first possible hit. */
  rowsBefore: number;
  /** Rows per id, and the share of the ids within these rows (hit-depth.ts). */
  hitDepth: { depth: number; share: number };
}

/** A plan to read the first `rows` rows of a list. */
export interface Plan {
  rows: number;
  /** The share of the ids expected within these rows. */
  share: number;
  /** The number of list rows before the first possible hit. */
  rowsBefore: number;
  /** A trial is not expected to save calls. A trial only finds out whether the list holds such ids. */
  isTrial: boolean;
}

/** Plans the rows to read for a batch of `idCount` ids. @returns undefined if GETs for all ids cost less. */
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

/** Plans a trial of one page. @returns undefined if the batch is too small for a page. */
export function trialFor(idCount: number, { maxPageSize }: CostModel): Plan | undefined {
  if (idCount < minIdsForPage) return undefined;
  return { rows: Math.min(trialDepth * idCount, maxPageSize), share: 0, rowsBefore: 0, isTrial: true };
}

/** The most pages that a batch of `idCount` ids may read. */
export function maxPagesFor(idCount: number): number {
  return Math.max(1, Math.floor(idCount / minIdsPerPage));
}

// A short pause of this process or of the service must not time out a page.
const minTimeLimitMs = 200;
// Applies until the first call was measured.
const initialTimeLimitMs = 1_000;

/**
 * The time limit of a page in milliseconds: twice the expected time of the page or of GETs for all ids, whichever
 * is longer. So a service that slows down as a whole does not get all requests a second time.
 */
export function timeLimitMs(rows: number, idCount: number, costModel: CostModel): number {
  if (!costModel.times.isKnown) return initialTimeLimitMs;
  return Math.max(2 * Math.max(costModel.times.msOfPage(rows), msOfGets(idCount, costModel)), minTimeLimitMs);
}

function costOfRows(rows: number, { times, maxPageSize }: CostModel): number {
  const pages = Math.ceil(rows / maxPageSize);
  return times.msOfPage(rows) + (pages - 1) * times.msOfPage(0) + pages * callWeight * times.getMs;
}

/** @param count A count below 1 is the probability of one GET. */
function costOfGets(count: number, costModel: CostModel): number {
  return msOfGets(count, costModel) + count * callWeight * costModel.times.getMs;
}

function msOfGets(count: number, { times, callsAtOnce }: CostModel): number {
  return times.getMs * Math.min(count, Math.max(1, count / callsAtOnce));
}

// The assumed time of one row of a page, as a fraction of a GET's time.
const rowTimePerGet = 1 / 200;
// Other work of this process or of the service can only lengthen a call. So shorter times weigh more, and one
// longer call raises the average by at most a tenth.
const weightOfShorter = 0.5;
const weightOfLonger = 0.1;

/** How long a tenant's calls to one list and its records take: moving averages in milliseconds. */
export class CallTimes {
  #getMs: number | undefined;
  /** The time of a page without its rows. */
  #pageMs: number | undefined;

  /** Whether a call was measured. Until then, the time of a GET counts as 1. */
  get isKnown(): boolean {
    return this.#getMs !== undefined;
  }

  get getMs(): number {
    return this.#getMs ?? 1;
  }

  /** The expected time of a page with `rows` rows. */
  msOfPage(rows: number): number {
    return (this.#pageMs ?? this.getMs) + rows * rowTimePerGet * this.getMs;
  }

  /** @param ms The time of a GET, or the average of several GETs. */
  observeGet(ms: number): void {
    this.#getMs = averageWith(ms, this.#getMs);
  }

  /** @param ms The time of a page with `rows` rows. */
  observePage(rows: number, ms: number): void {
    this.#getMs ??= ms / (1 + rows * rowTimePerGet);
    // The page's share of the time if rows take the assumed time. A minimum, because an average of 0 would stay 0.
    const minMs = ms / (1 + rows * rowTimePerGet);
    this.#pageMs = averageWith(Math.max(ms - rows * rowTimePerGet * this.#getMs, minMs), this.#pageMs);
  }
}

function averageWith(newest: number, average: number | undefined): number {
  if (average === undefined) return newest;
  if (newest < average) return average + (newest - average) * weightOfShorter;
  return average + (Math.min(newest, 2 * average) - average) * weightOfLonger;
}
