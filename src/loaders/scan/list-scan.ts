import { FairQueue, UnitEntry } from '../../concurrency/fair-queue.ts';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import type { CallLog, CallLogEntry } from '../../rest/client/call-log.ts';
import type { Position } from '../paging/cursor.ts';
import { queryKey } from '../paging/page-loader.ts';
import { type Filters, PageWalk, type ReadPage } from '../paging/page-walk.ts';
import type { RecordLoader } from '../record-loader.ts';

/** The pages that all scans of an operation may read. */
export const maxScannedPages = 20;

/** The pages of scans that one token may read at once (docs/decisions/0047-two-pages-of-scans-at-a-time.md). */
const pagesAtOncePerToken = 2;

/** Gives the pages of scans their turn. */
export const createScanQueue = () =>
  new FairQueue({ capacity: Number.POSITIVE_INFINITY, maxWeightPerToken: pagesAtOncePerToken });

/** Reads when the token has its turn, or when the operation has ended and its calls fail. @throws the errors of `read` */
export async function inTurn<Value>(
  queue: FairQueue,
  { owner, signal }: Pick<CallContext, 'owner' | 'signal'>,
  read: () => Promise<Value>,
): Promise<Value> {
  const turn = Promise.withResolvers<void>();
  const entry = new UnitEntry(owner, turn.resolve);
  if (!signal.aborted && queue.acquire(entry) === 'waiting') {
    signal.addEventListener('abort', turn.resolve);
    await turn.promise;
    signal.removeEventListener('abort', turn.resolve);
    if (signal.aborted) queue.leave(entry);
  }
  try {
    return await read();
  } finally {
    queue.leave(entry);
  }
}

/** `end`: the list has no further page. `no budget`: the operation may read no further page. */
type NextPage<Row> = ReadPage<Row> | 'end' | 'no budget';

/**
 * Reads the page of a list with this number, from 0. Read the pages in their order.
 * @param firstPageRows the rows that page 0 should have. The largest number of all fields counts.
 * @throws InvalidResponseError if the list has no end. Errors of the page loader are passed on.
 */
export type ListScan<Row> = (number: number, firstPageRows: number) => Promise<NextPage<Row>>;

/**
 * Finds the scan with these filters of REST from a position on, by default from the start of the list. Read its first page
 * at once: the fields of a scan go from page to page together.
 * @param keepsRows whether rows are kept for ids of the operation, by default not. The same for all its fields.
 */
export type ListScans<Row, Query extends PageQuery> = (
  filters: Filters<Query>,
  start?: Position,
  keepsRows?: boolean,
) => ListScan<Row>;

export interface ScanOptions<Row, Query> {
  maxPageSize: number;
  list(query: Query): Promise<Page<Row>>;
  /** Gets the rows that are kept for ids. */
  byName: RecordLoader<Row>;
  operation: Pick<CallContext, 'callLog' | 'deadline' | 'owner' | 'signal'>;
  queue: FairQueue;
}

/**
 * The scans of one operation over one list. Fields with the same REST filters and start share a scan, so that
 * each page is read once. They read no further page after half of the operation's time.
 */
export function createScans<Row extends { name: string }, Query extends PageQuery>({
  list,
  byName,
  maxPageSize,
  operation,
  queue,
}: ScanOptions<Row, Query>): ListScans<Row, Query> {
  const { callLog, deadline } = operation;
  const halfTimeMs = deadline.remainingMs() / 2;
  const scans = new Map<string, ListScan<Row>>();

  return (filters, start, keepsRows = false) => {
    const key = queryKey({ filters: queryKey(filters), ...start });
    const shared = scans.get(key);
    if (shared !== undefined) return shared;
    const walk = new PageWalk({ load, maxPageSize, clearAll() {} }, filters, start);
    let rowsOfFirstPage = 0;
    /** Whether a field returns rows of the latest page, which may lead to further rows. Counts ask for pages of any size. */
    let returnsRows = false;
    let latest: { number: number; page: Promise<NextPage<Row>> } | undefined;

    async function load(query: Query): Promise<Page<Row>> {
      const { generation } = byName;
      const sentMs = callLog.elapsedMs();
      const page = await list(query);
      if (keepsRows && (returnsRows || hasOtherCalls(callLog, sentMs))) byName.prime(page.rows, generation);
      return page;
    }

    async function next(before: Promise<NextPage<Row>> | undefined): Promise<NextPage<Row>> {
      // All fields of the operation that start together have asked for their rows after this.
      const last = await before;
      if (typeof last === 'string') return last;
      if (last !== undefined && last.page.nextPageToken === undefined) return 'end';
      return inTurn(queue, operation, async () => {
        if (callLog.scannedPages >= maxScannedPages) return 'no budget';
        // A slow list gets on by one page at least, and the client by one cursor.
        if (last !== undefined && deadline.remainingMs() < halfTimeMs) return 'no budget';
        callLog.scannedPages += 1;
        return walk.next(last === undefined ? rowsOfFirstPage : maxPageSize);
      });
    }

    const scan: ListScan<Row> = (number, firstPageRows) => {
      rowsOfFirstPage = Math.max(rowsOfFirstPage, firstPageRows);
      if (latest?.number !== number) {
        // A field that starts later has a scan of its own.
        if (number > 0 && scans.get(key) === scan) scans.delete(key);
        returnsRows = false;
        latest = { number, page: next(latest?.page) };
      }
      returnsRows ||= firstPageRows < Number.POSITIVE_INFINITY;
      return latest.page;
    };
    scans.set(key, scan);
    return scan;
  };
}

/**
 * Whether an operation had other calls than one page of a scan since this page was sent. Only what they return can need
 * records of the page by id (docs/decisions/0048-rows-of-a-scan-kept-beside-other-calls.md).
 */
function hasOtherCalls({ entries }: CallLog, sentMs: number): boolean {
  const isLater = ({ startMs, durationMs = Infinity }: CallLogEntry) => startMs + durationMs >= sentMs;
  return entries.filter(isLater).length > 1;
}
