import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { ScanBudgetExceededError } from '../../rest/client/scan-budget.ts';
import type { Position } from '../paging/cursor.ts';
import { queryKey, uncountedPages } from '../paging/page-loader.ts';
import { type Filters, PageWalk, type ReadPage } from '../paging/page-walk.ts';
import type { RecordLoader } from '../record-loader.ts';

/**
 * A page, or the position to go on at if the operation may read no further page. `prime` puts rows into the loader of records
 * by id: a field calls it with the rows that it returns.
 */
type NextPage<Row> = (ReadPage<Row> & { prime(rows: Page<Row>['rows']): void }) | { endPosition: Position };

/**
 * Shows the pages of a list to a field until `look` returns a result, at the latest for the last page. The next page is read
 * when all fields have looked. Call it before the first page is there: a later call misses the rows of this page.
 * @param firstPageRows the rows that the first page should have. The largest number of all fields counts.
 * @throws InvalidResponseError if the list has no end. Errors of the page loader are passed on.
 */
export type ListScan<Row> = <Result>(firstPageRows: number, look: Look<Row, Result>) => Promise<Result>;

type Look<Row, Result> = (next: NextPage<Row>) => Result | undefined | Promise<Result | undefined>;

/**
 * The scans of one operation over one list. Fields with the same REST filters and start share a scan, so that
 * each page is read once. They read no further page after half of the operation's time.
 * @param byName gets the rows that are kept for ids
 */
export function createScans<Row extends { name: string }, Query extends PageQuery>(
  list: (query: Query, callContext: CallContext) => Promise<Page<Row>>,
  maxPageSize: number,
  byName: RecordLoader<Row>,
  callContext: CallContext,
) {
  const { deadline, scanBudget } = callContext;
  const halfTimeMs = deadline.remainingMs() / 2;
  const scans = new Map<string, ListScan<Row>>();

  /** Finds the scan with these filters of REST from a position on, by default from the start of the list. */
  return (filters: Filters<Query>, start?: Position): ListScan<Row> => {
    const key = queryKey({ filters: queryKey(filters), ...start });
    const shared = scans.get(key);
    if (shared !== undefined) return shared;
    /** Whether `readNext` has taken the next read. For a page whose rows have moved, the walk reads more than once. */
    let isTaken = false;
    const readPage = async (query: Query) => {
      if (!isTaken) {
        await scanBudget.nextTurn();
        if (!scanBudget.take()) throw new ScanBudgetExceededError();
      }
      isTaken = false;
      return list(query, callContext);
    };
    const pages = uncountedPages(readPage, maxPageSize);
    const walk = new PageWalk(pages, filters, start);
    /** The fields without a result. `look` returns whether the field has it now. */
    let fields: { firstPageRows: number; look(next: NextPage<Row>): boolean | Promise<boolean> }[] = [];

    async function readNext(isFirst: boolean): Promise<NextPage<Row>> {
      // A slow list gets on by one page at least, and the client by one cursor.
      const isLate = !isFirst && deadline.remainingMs() < halfTimeMs;
      if (isLate || !scanBudget.take()) return { endPosition: walk.position };
      isTaken = true;
      const { generation } = byName;
      const firstPageRows = Math.max(...fields.map((field) => field.firstPageRows));
      const read = await walk.next(isFirst ? firstPageRows : maxPageSize).catch((error: unknown) => {
        // On the first page, the cursor would be the one that the client has sent.
        if (isFirst || !(error instanceof ScanBudgetExceededError)) throw error;
        return undefined;
      });
      if (read === undefined) return { endPosition: walk.position };
      const prime = (rows: Page<Row>['rows']) => byName.prime(rows, generation);
      return { ...read, prime };
    }

    /** Shows page after page to the fields that have no result yet. */
    async function run(): Promise<void> {
      // All fields of the operation that start together have asked for their rows after this.
      await undefined;
      for (let isFirst = true; fields.length > 0; isFirst = false) {
        const turn = scanBudget.nextTurn();
        if (turn !== undefined) await turn;
        const next = await readNext(isFirst);
        // A field that starts later has a scan of its own.
        if (isFirst) scans.delete(key);
        const looks = fields.map((field) => field.look(next));
        const isDone = looks.some((look) => look instanceof Promise) ? await Promise.all(looks) : looks;
        fields = fields.filter((_field, index) => !isDone[index]);
      }
    }

    let running: Promise<void> | undefined;
    const scan: ListScan<Row> = <Result>(firstPageRows: number, lookAt: Look<Row, Result>) => {
      return new Promise<Result>((resolve, reject) => {
        const resolveIfDone = (result: Result | undefined) => {
          if (result !== undefined) resolve(result);
          return result !== undefined;
        };
        // A field that failed needs no further page.
        const rejectAndEnd = (error: unknown) => {
          reject(error);
          return true;
        };
        const look = (next: NextPage<Row>) => {
          const result = lookAt(next);
          return result instanceof Promise ? result.then(resolveIfDone, rejectAndEnd) : resolveIfDone(result);
        };
        fields.push({ firstPageRows, look });
        // The first field starts the scan. The error of a page is that of all fields.
        running ??= run();
        running.catch(reject);
      });
    };
    scans.set(key, scan);
    return scan;
  };
}
