import DataLoader from 'dataloader';
import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { Pages } from '../paging/page-loader.ts';
import { pagesFrom } from '../paging/page-walk.ts';

/** Takes the rows of the next page. @returns whether it needs no further page */
export type PageReader<Row> = (rows: Page<Row>['rows']) => Promise<boolean>;

/** Gives the pages of a list to a reader, until it needs no more or the list ends. */
export type ReadPages<Row> = (reader: PageReader<Row>) => Promise<void>;

/**
 * Makes readings of a list from its first page on, one at a time. Readers that come during a reading share the next one,
 * so that many need few calls, and none gets a page that was requested before it came. A page is kept for nobody.
 * The result throws the errors of `pagesFrom` and of the reader.
 */
export function sharedReadings<Row extends { name: string }>(pages: Pages<Row, PageQuery>): ReadPages<Row> {
  let latest: Promise<unknown> = Promise.resolve();
  function read(readers: readonly PageReader<Row>[]) {
    const ends = readFor(pages, readers);
    latest = ends;
    return ends;
  }
  const loader = new DataLoader(read, {
    cache: false,
    // A batch takes readers until it starts. Those of the same round of the event loop belong together.
    batchScheduleFn: (start) => void latest.then(() => setImmediate(start)),
  });
  return async (reader) => void (await loader.load(reader));
}

/** Reads the list once. Never rejects. @returns null for each reader, or the error of the reader or of a page it needed */
async function readFor<Row extends { name: string }>(
  pages: Pages<Row, PageQuery>,
  readers: readonly PageReader<Row>[],
): Promise<(null | Error)[]> {
  const ends = readers.map((): null | Error | undefined => undefined);
  async function give(rows: Page<Row>['rows'], reader: PageReader<Row>, index: number): Promise<void> {
    if (ends[index] !== undefined) return;
    try {
      if (await reader(rows)) ends[index] = null;
    } catch (error) {
      ends[index] = toError(error);
    }
  }
  try {
    for await (const { rows } of pagesFrom(pages, {})) {
      await Promise.all(readers.map((reader, index) => give(rows, reader, index)));
      if (!ends.includes(undefined)) break;
    }
  } catch (error) {
    return ends.map((end) => (end === undefined ? toError(error) : end));
  }
  return ends.map((end) => end ?? null);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('a reading failed', { cause: error });
}
