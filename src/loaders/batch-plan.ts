import type { CallTimes } from './call-times.ts';
import { depthSteps } from './depths.ts';

/**
 * When pages of a list answer a batch of ids for less than one get for each, and how many rows they should have.
 *
 * The cost of a way is the time that it takes, in milliseconds, and a quarter of a get's time for each of its calls:
 * what is not waited for is work of the service all the same.
 *
 *     n gets:            getMs × max(1, n ÷ callsAtOnce)  +  n × getMs ÷ 4
 *     a page of r rows:  pageMs + rowMs × r               +      getMs ÷ 4
 *
 * A page is asked for where it and the gets that are expected to be left cost no more than gets for all. How many are
 * left follows from how far down the list the ids of earlier batches were. Of the page sizes that pay, the cheapest is
 * taken; but none that is expected to have less than a tenth of what is missing, however quick it may be.
 *
 * At first, when nothing is known, ids are taken to be within the newest two rows for each, and a page to be a get that
 * grows by 1/200 with each row: pages pay then from five ids on, which are the fewest for which one is tried at all.
 *
 * Whatever is expected, the calls of a batch are at most 1.2 times its ids. A page is read in vain at most once, as the
 * first that does not pay for itself is the last; and pages are never more than a tenth of the ids still missing, but one.
 *
 * Nor does a list that hangs hold a batch: a page is waited for twice as long as the slower of the two ways is expected to
 * take (patienceMs). One get then tells whether it is the list or the whole service that is slow; where the get is answered
 * first, the page is given up, and the rest is asked for by id.
 */

/** What a call costs besides the time that it is waited for, in gets. */
const callWeight = 0.25;

/** Fewer ids than these are asked for one by one: a page in vain would cost more than 1.2 times as many calls. */
export const fewestForPage = 5;

/** A page with less than this share of what is missing is hardly more than a page in vain. */
const leastShare = 0.1;

/** How many pages are asked for at most while so many ids are missing. */
const idsPerPage = 10;

/** How deep a trial looks, in rows for each id: most ids of most batches that lists answer at all. */
const trialDepth = 16;

/** What calls are expected to be like. */
export interface KnownCalls extends CallTimes {
  /** How many calls of an operation are under way at a time at most. */
  callsAtOnce: number;
  /** The most rows that a page has. */
  maxPageSize: number;
}

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
  if (!mayAskForPage(state)) return undefined;
  const most = (1 - leastShare) * state.missing;
  const sizes = pageSizes(state, knowledge).filter((size) => expectedLeft(state, size, knowledge) <= most);
  const page = cheapest(sizes.map((size) => ({ size, cost: costThroughPage(state, size, knowledge) })));
  return page !== undefined && page.cost <= costOfGets(state.missing, knowledge) ? page.size : undefined;
}

/** The size of a page that is asked for although it is not expected to pay, to see whether that has changed. */
export function trialPageSize(state: BatchState, { maxPageSize }: Knowledge): number | undefined {
  return mayAskForPage(state) ? Math.min(trialDepth * state.asked, maxPageSize) : undefined;
}

/** Whether a page of so many rows has found as many of the ids that were missing as to be worth its cost. */
export function hasPaid(
  { found, rows, missing }: { found: number; rows: number; missing: number },
  knowledge: Knowledge,
): boolean {
  const saved = costOfGets(missing, knowledge) - costOfGets(missing - found, knowledge);
  return found > 1 && saved >= costOfPage(rows, knowledge);
}

/** What is known of the records that the rows of a list name, such as the shipments of orders. */
export interface Following {
  /** How many ids follow from a row. */
  idsPerRow: number;
  /** How many rows of their list precede it, which the records of these rows come before. */
  rowsBefore: number;
  /** Where in the list of these records they are, as in Knowledge, counted from where those would end. */
  shareWithin(rowsPerId: number): number;
}

/** Fewer than these in a page that nobody has asked for yet are not what it usually answers. */
const leastShareAhead = 0.5;

/** Nobody knows yet how many are wanted, so that a quarter more rows are asked for than are expected to be enough. */
const marginAhead = 1.25;

/**
 * The size of the page to ask for together with a page of so many rows that will name the records wanted, or undefined
 * where that is to be waited for. As both are under way at the same time, only what the one takes longer counts as time.
 * It has to answer at least half of what follows, and to cost no more than the cheapest way after it.
 */
export function pageSizeAhead(rows: number, following: Following, known: KnownCalls): number | undefined {
  const asked = Math.round(following.idsPerRow * rows);
  const before = following.idsPerRow * following.rowsBefore;
  const state = { asked, missing: asked, rowsRead: 0, pages: 0 };
  if (!mayAskForPage(state)) return undefined;
  const shareWithin = (rowsPerId: number) => following.shareWithin(Math.max(rowsPerId - before / asked, 0));
  const expected = { ...known, shareWithin };
  const after = nextPageSize(state, expected);
  const costAfter =
    after === undefined ? costOfGets(asked, expected) : costThroughPage(state, after, expected);
  const pages = pageSizes(state, expected).map((size) => {
    const left = expectedLeft(state, size, expected);
    const ms = Math.max(size - rows, 0) * expected.rowMs;
    return { size, left, cost: ms + callWeight * expected.getMs + costOfGets(left, expected) };
  });
  const page = cheapest(pages.filter(({ left }) => left <= (1 - leastShareAhead) * asked));
  return page !== undefined && page.cost <= costAfter
    ? Math.min(Math.ceil(page.size * marginAhead), known.maxPageSize)
    : undefined;
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

function mayAskForPage({ missing, pages }: BatchState): boolean {
  return missing >= fewestForPage && pages < Math.max(1, missing / idsPerPage);
}

/** The sizes that are worth comparing: up to each depth that is told apart, as far as one page goes. */
function pageSizes({ asked, rowsRead }: BatchState, { maxPageSize }: Knowledge): number[] {
  const sizes = depthSteps.map((depth) => Math.min(Math.ceil(depth * asked) - rowsRead, maxPageSize));
  return [...new Set(sizes)].filter((size) => size > 0);
}

/** The first of the cheapest: rows that are of no use are not asked for even where they cost nothing. */
function cheapest(pages: readonly SizedPage[]): SizedPage | undefined {
  return pages.reduce<SizedPage | undefined>(
    (best, page) => (best === undefined || page.cost < best.cost ? page : best),
    undefined,
  );
}

interface SizedPage {
  size: number;
  cost: number;
}

function expectedLeft({ asked, missing, rowsRead }: BatchState, size: number, knowledge: Knowledge): number {
  const before = knowledge.shareWithin(rowsRead / asked);
  const within = knowledge.shareWithin((rowsRead + size) / asked);
  return before >= 1 ? missing : (missing * (1 - within)) / (1 - before);
}

/** Of a page, and of the gets for what it is expected to leave. */
function costThroughPage(state: BatchState, size: number, knowledge: Knowledge): number {
  return costOfPage(size, knowledge) + costOfGets(expectedLeft(state, size, knowledge), knowledge);
}

function costOfPage(rows: number, known: KnownCalls): number {
  return msOfPage(rows, known) + callWeight * known.getMs;
}

function costOfGets(count: number, known: KnownCalls): number {
  return msOfGets(count, known) + callWeight * known.getMs * count;
}

function msOfPage(rows: number, { pageMs, rowMs }: KnownCalls): number {
  return pageMs + rowMs * rows;
}

/** A count below one is the chance that there is one. */
function msOfGets(count: number, { getMs, callsAtOnce }: KnownCalls): number {
  return getMs * Math.min(count, Math.max(1, count / callsAtOnce));
}
