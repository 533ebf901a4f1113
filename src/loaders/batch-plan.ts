import { costOfGets, costOfRows, type KnownCalls, msOfGets, msOfPage } from './call-costs.ts';
import { depthSteps } from './depths.ts';

/**
 * When pages of a list answer a batch of ids for less than one get for each, and how many rows they should have.
 *
 * The cost of a way is the time that it takes, in milliseconds, and a quarter of a get's time for each of its calls
 * (call-costs.ts): what is not waited for is work of the service all the same.
 *
 *     n gets:              getMs × max(1, n ÷ callsAtOnce)  +  n × getMs ÷ 4
 *     r rows in p pages:   p × pageMs + rowMs × r           +  p × getMs ÷ 4
 *
 * A page is asked for where it, those that may have to follow, and the gets that are expected to be left cost no more than
 * gets for all. How many are left follows from how far down the list the ids of earlier batches were. Of the depths that
 * pay, the cheapest is taken; but none within which less than a tenth of what is missing is expected, however quick it is.
 *
 * At first, when nothing is known, ids are taken to be within the newest two rows for each, and a page to be a get that
 * grows by 1/200 with each row: pages pay then from five ids on, which are the fewest for which one is tried at all. Once
 * twenty tenants have shown where theirs were, those of a new one are taken to be where those were (depth-guess.ts).
 *
 * Whatever is expected, the calls of a batch are at most 1.2 times its ids, as there is one page for each ten ids that are
 * missing at most, or one. A page that finds much less than was expected of it is the last.
 *
 * Nor does a list that hangs hold a batch: a page is waited for twice as long as the slower of the two ways is expected to
 * take (patienceMs). One get then tells whether it is the list or the whole service that is slow; where the get is answered
 * first, the page is given up, and the rest is asked for by id.
 */

/** Fewer ids than these are asked for one by one: a page in vain would cost more than 1.2 times as many calls. */
export const fewestForPage = 5;

/** Pages with less than this share of what is missing are hardly more than pages in vain. */
const leastShare = 0.1;

/** How many pages are asked for at most while so many ids are missing. */
const idsPerPage = 10;

/** How deep a trial looks, in rows for each id: most ids of most batches that lists answer at all. */
const trialDepth = 16;

/** What is known before a batch is asked for. */
export interface Knowledge extends KnownCalls {
  /** The share of a batch's ids that is expected within so many rows for each of them. */
  shareWithin(rowsPerId: number): number;
}

/** How far a batch has come. */
export interface BatchState {
  /** How many ids it has. */
  asked: number;
  /** How many of them have not been found so far. */
  missing: number;
  /** How many rows of the list have been looked through. */
  rowsRead: number;
  /** How many pages have been asked for. */
  pages: number;
}

/** The size of the page to ask for next, or undefined where what is missing is to be asked for by id. */
export function nextPageSize(state: BatchState, knowledge: Knowledge): number | undefined {
  const rows = cheapestRows(state, knowledge, (rows) => costThrough(rows, state, knowledge));
  return rows !== undefined && costThrough(rows, state, knowledge) <= costOfGets(state.missing, knowledge)
    ? Math.min(rows, knowledge.maxPageSize)
    : undefined;
}

/** What the cheapest way through this batch is expected to cost. */
export function costOfBatch(state: BatchState, knowledge: Knowledge): number {
  const byId = costOfGets(state.missing, knowledge);
  const rows = cheapestRows(state, knowledge, (rows) => costThrough(rows, state, knowledge));
  return rows === undefined ? byId : Math.min(byId, costThrough(rows, state, knowledge));
}

/** The size of a page that is asked for although it is not expected to pay, to see whether that has changed. */
export function trialPageSize(state: BatchState, { maxPageSize }: Knowledge): number | undefined {
  return mostPages(state) > 0 ? Math.min(trialDepth * state.asked, maxPageSize) : undefined;
}

/**
 * Whether it is worth asking how to go on after a page: it has saved what it cost, or found at least half of what was
 * expected of it. `state` is that before it.
 */
export function isAsExpected(
  { found, rows }: { found: number; rows: number },
  state: BatchState,
  knowledge: Knowledge,
): boolean {
  const { missing } = state;
  const saved = costOfGets(missing, knowledge) - costOfGets(missing - found, knowledge);
  const hasPaid = found > 1 && saved >= costOfRows(rows, knowledge);
  return hasPaid || found >= (missing - expectedLeft(rows, state, knowledge)) / 2;
}

/** Twice the time that is expected: calls seldom take longer than that without a reason. */
const patience = 2;

/** A pause of this process alone must not make a page late. */
const leastPatienceMs = 50;

/** As long as no call of the service has been seen. */
const patienceAtFirstMs = 1_000;

/** How long a page of so many rows is waited for, in milliseconds, where so many ids could be asked for in its place. */
export function patienceMs(rows: number, missing: number, known: KnownCalls): number {
  if (known.isGuess) return patienceAtFirstMs;
  return Math.max(patience * Math.max(msOfPage(rows, known), msOfGets(missing, known)), leastPatienceMs);
}

/**
 * The number of rows to look through for which `cost` is least, of those that tell depths apart, can be read, and are
 * expected to have a share of what is missing. The first of the cheapest: rows of no use are not asked for even for nothing.
 */
export function cheapestRows(
  state: BatchState,
  knowledge: Knowledge,
  cost: (rows: number) => number,
  { leastFound = leastShare, maxPages = Number.POSITIVE_INFINITY } = {},
): number | undefined {
  const { asked, missing, rowsRead } = state;
  const most = Math.min(mostPages(state), maxPages) * knowledge.maxPageSize;
  let cheapest: { rows: number; cost: number } | undefined;
  for (const depth of depthSteps) {
    const rows = Math.min(Math.ceil(depth * asked) - rowsRead, most);
    if (rows <= 0 || expectedLeft(rows, state, knowledge) > (1 - leastFound) * missing) continue;
    const costOfThese = cost(rows);
    if (cheapest === undefined || costOfThese < cheapest.cost) cheapest = { rows, cost: costOfThese };
  }
  return cheapest?.rows;
}

/** How many of the missing ids are expected not to be in the next so many rows. */
export function expectedLeft(
  rows: number,
  { asked, missing, rowsRead }: BatchState,
  known: Knowledge,
): number {
  const before = known.shareWithin(rowsRead / asked);
  const within = known.shareWithin((rowsRead + rows) / asked);
  return before >= 1 ? missing : (missing * (1 - within)) / (1 - before);
}

/** How many pages may still be asked for. */
function mostPages({ missing, pages }: BatchState): number {
  return missing < fewestForPage ? 0 : Math.ceil(Math.max(1, missing / idsPerPage) - pages);
}

/** Of so many rows, and of the gets for what they are expected to leave. */
function costThrough(rows: number, state: BatchState, knowledge: Knowledge): number {
  return costOfRows(rows, knowledge) + costOfGets(expectedLeft(rows, state, knowledge), knowledge);
}
