import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import type { CallLogEntry } from '../../rest/client/call-log.ts';
import type { Position } from '../paging/cursor.ts';
import { queryKey } from '../paging/page-loader.ts';
import { type Filters, PageWalk, type ReadPage } from '../paging/page-walk.ts';
import type { RecordLoader } from '../record-loader.ts';

/** The pages that all scans of an operation may read. */
export const maxScannedPages = 20;

/** `prime` keeps rows for ids, if the scan keeps rows. With an `endPosition`, the operation may read no further page. */
type NextPage<Row> = (ReadPage<Row> & { prime(rows: Page<Row>['rows']): void }) | { endPosition: Position };

/**
 * Shows the pages of a list to a field until `look` returns a result, at the latest for the last page. Call it at once: a
 * call after the first page misses the rows of this page.
 * @param firstPageRows the rows that the first page should have. The largest number of all fields counts.
 * @throws InvalidResponseError if the list has no end. Errors of the page loader are passed on.
 */
export type ListScan<Row> = <Result>(
  firstPageRows: number,
  look: (next: NextPage<Row>) => Result | undefined,
) => Promise<Result>;

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
  const { callLog, deadline } = callContext;
  const halfTimeMs = deadline.remainingMs() / 2;
  const scans = new Map<string, ListScan<Row>>();

  /**
   * Finds the scan with these filters of REST from a position on, by default from the start of the list.
   * @param keepsRows whether rows are kept for ids of the operation. The same for all fields of a scan.
   */
  return (filters: Filters<Query>, start?: Position, keepsRows = false): ListScan<Row> => {
    const key = queryKey({ filters: queryKey(filters), ...start });
    const shared = scans.get(key);
    if (shared !== undefined) return shared;
    const load = (query: Query) => list(query, callContext);
    const walk = new PageWalk({ load, maxPageSize, clearAll() {} }, filters, start);
    /** The fields without a result. `look` returns whether the field has it now. */
    let fields: { firstPageRows: number; look(next: NextPage<Row>): boolean }[] = [];

    /** @param hasWaited whether the operation waited for this page, as others read many pages. */
    async function readNext(isFirst: boolean, hasWaited: boolean): Promise<NextPage<Row>> {
      // A slow list gets on by one page at least, and the client by one cursor.
      const isLate = !isFirst && deadline.remainingMs() < halfTimeMs;
      if (isLate || callLog.scannedPages >= maxScannedPages) return { endPosition: walk.position };
      callLog.scannedPages += 1;
      const { generation } = byName;
      const sentMs = callLog.elapsedMs();
      const firstPageRows = Math.max(...fields.map((field) => field.firstPageRows));
      const read = await walk.next(isFirst ? firstPageRows : maxPageSize);
      const prime = (rows: Page<Row>['rows']) => keepsRows && byName.prime(rows, generation);
      // What a filter or another call returns may need any row by id. But many scans at once would keep too many rows
      // (docs/decisions/0049-rows-of-few-scans-are-kept.md).
      const isFilter = fields.some((field) => field.firstPageRows < Number.POSITIVE_INFINITY);
      const isLater = ({ startMs, durationMs = Infinity }: CallLogEntry) => startMs + durationMs >= sentMs;
      if (!hasWaited && (isFilter || callLog.entries.filter(isLater).length > 1)) prime(read.page.rows);
      return { ...read, prime };
    }

    async function run(): Promise<void> {
      // All fields of the operation that start together have asked for their rows after this.
      await undefined;
      for (let isFirst = true; fields.length > 0; isFirst = false) {
        const more = callLog.scannedPages === 0 ? undefined : callContext.takeMorePages();
        if (more !== undefined) await more;
        const next = await readNext(isFirst, more !== undefined);
        // A field that starts later has a scan of its own.
        if (isFirst) scans.delete(key);
        fields = fields.filter((field) => !field.look(next));
      }
    }

    let running: Promise<void> | undefined;
    const scan: ListScan<Row> = (firstPageRows, look) => {
      return new Promise((resolve, reject) => {
        const lookOnce = (next: NextPage<Row>) => {
          const result = look(next);
          if (result !== undefined) resolve(result);
          return result !== undefined;
        };
        fields.push({ firstPageRows, look: lookOnce });
        running ??= run();
        running.catch(reject);
      });
    };
    scans.set(key, scan);
    return scan;
  };
}
