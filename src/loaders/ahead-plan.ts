import { cheapestRows, costOfBatch, expectedLeft, type Knowledge } from './batch-plan.ts';
import { costOfGets, type KnownCalls, weightOfCall } from './call-costs.ts';

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
export function pageSizeAhead(
  rowsOfOrders: number,
  { idsPerRow, rowsBefore, shareWithin }: Following,
  known: KnownCalls,
): number | undefined {
  const asked = Math.round(idsPerRow * rowsOfOrders);
  if (asked === 0) return undefined;
  const depthBefore = (idsPerRow * rowsBefore) / asked;
  const expected: Knowledge = {
    ...known,
    shareWithin: (depth) => shareWithin(Math.max(depth - depthBefore, 0)),
  };
  const state = { asked, missing: asked, rowsRead: 0, pages: 0 };
  const costAhead = (rows: number) =>
    Math.max(rows - rowsOfOrders, 0) * known.rowMs +
    weightOfCall(known) +
    costOfGets(expectedLeft(rows, state, expected), known);
  const rows = cheapestRows(state, expected, costAhead, {
    leastFound: leastShareAhead,
    maxPages: 1,
  });
  return rows !== undefined && costAhead(rows) <= costOfBatch(state, expected)
    ? Math.min(Math.ceil(rows * marginAhead), known.maxPageSize)
    : undefined;
}
