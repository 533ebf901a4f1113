import { type Check, type Examination, ok, open, textIn, toListPage } from '../examination.ts';
import { searchName } from './name-search.ts';

/** Whether REST refuses unknown parameters. Where it ignores them, a wrong name returns rows that nobody asked for. */
export const unknownParameters: Check = async (examination) => {
  const answer = await examination.service.get('/v1/orders', { waybillDoctor: '1' });
  if (toListPage('orders', answer) !== undefined) return ok('Unknown parameters are ignored.');
  examination.refusal = answer;
  return ok(`Unknown parameters are rejected with ${answer.status}.`);
};

const needs = (what: string) =>
  open(
    `The doctor could not find out the name of this query parameter. The check needs ${what}.`,
    'Waybill uses the default name. Run the doctor again when the service has this data.',
  );

/** A list with two rows. */
async function longList(examination: Examination): Promise<'orders' | 'locations' | undefined> {
  for (const kind of ['orders', 'locations'] as const)
    if ((await examination.rows(kind)).length > 1) return kind;
  return undefined;
}

/** One row for the page size 1 proves the name, because the list has more rows. */
export const pageSize: Check = async (examination) => {
  const kind = await longList(examination);
  if (kind === undefined) return needs('two orders');
  const { length } = await examination.rows(kind);
  return searchName(examination, 'pageSize', async (names) => {
    const answer = await examination.service.get(`/v1/${kind}`, withValue(names, '1'));
    const count = toListPage(kind, answer)?.rows.length;
    if (count === 1) return 'proof';
    return count === length ? 'none' : 'unclear';
  });
};

/** A second page without a row of the first one proves the name. */
export const pageToken: Check = async (examination) => {
  const kind = (await longList(examination)) ?? 'orders';
  // A new row may come between two calls. Two rows on a page show that the token had no effect.
  const size = (await examination.rows(kind)).length > 2 ? 2 : 1;
  const before = toListPage(kind, await examination.list(`/v1/${kind}`, size));
  const token = before?.nextPageToken;
  if (typeof token !== 'string' || token === '') return needs('two orders');
  const known = before?.rows.map((row) => textIn(row, 'name')) ?? [];
  return searchName(examination, 'pageToken', async (names) => {
    const answer = await examination.list(`/v1/${kind}`, size, withValue(names, token));
    const rows = toListPage(kind, answer)?.rows ?? [];
    if (rows.length === 0) return 'unclear';
    return rows.some((row) => known.includes(textIn(row, 'name'))) ? 'none' : 'proof';
  });
};

/** How the rows of a filtered list prove the name of the filter. */
interface Filter {
  kind: 'orders' | 'locations';
  /** A text that leaves out the first row of the list, but not all of the others. */
  choose(first: unknown, others: readonly unknown[]): string | undefined;
  isProof(rows: readonly unknown[], text: string): boolean;
  needs: string;
}

const filters: Record<'status' | 'search' | 'query', Filter> = {
  status: {
    kind: 'orders',
    choose(first, others) {
      const statuses = new Set(others.flatMap((row) => textIn(row, 'status') ?? []));
      statuses.delete(textIn(first, 'status') ?? '');
      return [...statuses].slice(0, 2).join(',') || undefined;
    },
    isProof: (rows, text) => rows.every((row) => text.split(',').includes(textIn(row, 'status') ?? '')),
    needs: 'two orders with different statuses',
  },
  search: {
    kind: 'orders',
    choose: (first, others) =>
      otherText(first, others, 'referenceId') ?? otherText(first, others, 'recipient.phoneNumber'),
    // Other orders may write the same phone number in another way.
    isProof: (rows, text) => rows.some((row) => has(row, text)),
    needs: 'two orders',
  },
  query: {
    kind: 'locations',
    choose: (first, others) => otherText(first, others, 'address.locality'),
    isProof: (rows, text) => rows.every((row) => has(row, text)),
    needs: 'two locations',
  },
};

/** Rows that match a text, without the first row of the list, prove the name. */
export function filter(parameter: keyof typeof filters): Check {
  const { kind, choose, isProof, needs: needed } = filters[parameter];
  return async (examination) => {
    const [first, ...others] = await examination.rows(kind);
    const text = choose(first, others);
    if (text === undefined) return needs(needed);
    return searchName(examination, parameter, async (names) => {
      const page = toListPage(kind, await examination.list(`/v1/${kind}`, 20, withValue(names, text)));
      const rows = page?.rows ?? [];
      if (rows.some((row) => textIn(row, 'name') === textIn(first, 'name'))) return 'none';
      return rows.length > 0 && isProof(rows, text) ? 'proof' : 'unclear';
    });
  };
}

/** The last text at a path that the first row does not have anywhere. */
function otherText(first: unknown, others: readonly unknown[], path: string): string | undefined {
  return others.flatMap((row) => textIn(row, path) ?? []).findLast((text) => !has(first, text));
}

/** Whether a record has a text anywhere. Searches ignore case and accents. */
function has(record: unknown, text: string): boolean {
  const plain = (part: string) => part.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain(JSON.stringify(record)).includes(plain(text));
}

function withValue(names: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, value]));
}
