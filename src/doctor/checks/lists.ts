import { timeMs } from '../../base/date-time.ts';
import { type Check, ok, open, textIn, toListPage, warning } from '../examination.ts';

// The default sizes of pages are 20, 50 and 100, so a page with fewer rows is the last one.
const smallestDefault = 20;
const largest = 1_000;

/** Whether a list takes the largest page of the interface ("List query parameters"), which batches may ask for. */
export function largestPage(kind: 'orders' | 'shipments'): Check {
  return async (examination) => {
    if (examination.names.pageSize === undefined)
      return open('The name of the page size parameter is unknown.');
    const page = toListPage(kind, await examination.list(`/v1/${kind}`, largest));
    if (page !== undefined) examination.pages.set(kind, page);
    const count = page?.rows.length ?? 0;
    if (count === largest) return ok(`A page of ${largest} rows is accepted.`);
    if (page !== undefined && isEnd(page.nextPageToken))
      return open(`A page of ${largest} rows is accepted, but the list has only ${count}.`);
    examination.settings.UPSTREAM_LISTS_FOR_BATCHES = 'no';
    const remedy = 'With UPSTREAM_LISTS_FOR_BATCHES=no, Waybill reads each record by its id.';
    const cause = page
      ? `The response to a request for ${largest} rows has only ${count}.`
      : `A page of ${largest} rows is rejected.`;
    return warning(cause, remedy);
  };
}

function isEnd(token: unknown): boolean {
  return token === undefined || token === null || token === '';
}

/** How the last page of a list says so. */
export const lastPage: Check = async ({ pages }) => {
  const shortPages = [...pages.values()].filter(({ rows }) => rows.length < smallestDefault);
  const tokens = shortPages.map(({ nextPageToken }) => nextPageToken);
  if (tokens.length === 0) return open('No list was read to its end.');
  const form = (token: unknown) => (isEnd(token) ? (JSON.stringify(token) ?? 'absent') : 'a token');
  const cause = `The nextPageToken of the last page is ${[...new Set(tokens.map(form))].sort().join(' or ')}.`;
  if (tokens.every(isEnd)) return ok(cause);
  return warning(
    cause,
    'If this is the last page, clients must read one more page to see the end. If not, the REST service returns ' +
      'shorter pages than requested.',
  );
};

/** Whether the lists with times are newest first. */
export const orderOfLists: Check = async ({ pages }) => {
  const orders = (['orders', 'shipments', 'messages'] as const).flatMap((kind) => {
    const found = orderOf(pages.get(kind)?.rows ?? []);
    return found === undefined ? [] : [`${kind}: ${found}`];
  });
  if (orders.length === 0) return open('This check needs two orders with different times of creation.');
  const cause = `${orders.join(', ')}.`;
  if (orders.every((each) => each.endsWith('newest first'))) return ok(cause);
  return warning(
    cause,
    'Clients get the rows in this sequence. To filter them by time, Waybill must read more pages.',
  );
};

function orderOf(rows: readonly unknown[]): string | undefined {
  const times = rows.flatMap((row) => timeMs(textIn(row, 'createTime')) ?? []);
  const steps = times.slice(1).map((ms, index) => Math.sign(ms - (times[index] ?? ms)));
  if (steps.includes(1) && steps.includes(-1)) return 'not sorted by time';
  if (steps.includes(-1)) return 'newest first';
  return steps.includes(1) ? 'oldest first' : undefined;
}
