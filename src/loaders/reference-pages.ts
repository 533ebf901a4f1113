import type { Caller } from '../rest/caller.ts';
import { InvalidResponseError, StatusError } from '../rest/errors.ts';
import { createLedger } from '../rest/ledger.ts';
import type { Page, PageQuery } from '../rest/types.ts';
import { type PageLoader, pageLoader, queryKey } from './page-loader.ts';

/** How long pages are kept. */
export interface ReferenceTimes {
  /** How long a page is taken for what it is, in milliseconds; 0 keeps none. */
  referenceMs: number;
  /** How much longer it is still answered while it is read anew, in milliseconds. */
  referenceGraceMs: number;
}

/**
 * Pages of lists that seldom change, kept for one tenant beyond the operation that has read them. Nothing drops them
 * when something is written: none of the six writes changes origins, locations, channels or templates.
 */
export interface ReferencePages {
  has(key: string): boolean;
  /** The page, and whether it is due to be read anew; undefined where there is none that may still be answered. */
  find(key: string): { page: Page<unknown>; isDue: boolean } | undefined;
  /** Reads a page and keeps it. An error is not kept, and nor is a page with a broken row. */
  read<Row>(key: string, read: () => Promise<Page<Row>>): Promise<Page<Row>>;
  /** Reads a page anew for those who ask later, once at a time. When that fails, the next who asks tries again. */
  renew(key: string, read: () => Promise<Page<unknown>>): void;
}

interface KeptPage {
  page: Page<unknown>;
  /** When it was asked for: what it says was so at that time at the earliest. */
  askedAt: number;
}

// Of one tenant. Of locations that is some 5 MB, and more than one country has.
const maxRows = 20_000;
// As searches that find nothing have no rows.
const maxPages = 500;

/** `now` counts milliseconds, from whenever. */
export function createReferencePages(
  { referenceMs, referenceGraceMs }: ReferenceTimes,
  now = () => performance.now(),
): ReferencePages {
  // In the order in which they were last asked for.
  const kept = new Map<string, KeptPage>();
  const renewed = new Set<string>();
  let rowCount = 0;

  function forget(key: string): void {
    rowCount -= kept.get(key)?.page.rows.length ?? 0;
    kept.delete(key);
  }

  function keep(key: string, page: Page<unknown>, askedAt: number): void {
    const isWhole = !page.rows.some((row) => row instanceof InvalidResponseError);
    const isNewest = (kept.get(key)?.askedAt ?? askedAt) <= askedAt;
    if (referenceMs === 0 || !isWhole || !isNewest) return;
    forget(key);
    kept.set(key, { page, askedAt });
    rowCount += page.rows.length;
    for (const oldest of kept.keys()) {
      if (rowCount <= maxRows && kept.size <= maxPages) return;
      forget(oldest);
    }
  }

  function answerable(key: string): KeptPage | undefined {
    const known = kept.get(key);
    const isGone = known !== undefined && now() - known.askedAt >= referenceMs + referenceGraceMs;
    return isGone ? undefined : known;
  }

  async function read<Row>(key: string, read: () => Promise<Page<Row>>): Promise<Page<Row>> {
    const askedAt = now();
    const page = await read();
    keep(key, page, askedAt);
    return page;
  }

  return {
    has: (key) => answerable(key) !== undefined,
    find(key) {
      const known = answerable(key);
      if (known === undefined) return undefined;
      kept.delete(key);
      kept.set(key, known);
      return { page: known.page, isDue: now() - known.askedAt >= referenceMs };
    },
    read,
    renew(key, readPage) {
      if (renewed.has(key)) return;
      renewed.add(key);
      read(key, readPage)
        .catch((error: unknown) => {
          if (isTakenAway(error)) forget(key);
        })
        .finally(() => renewed.delete(key));
    },
  };
}

/** Whether REST says that this bearer has no such list, or no longer: no failure that a known page could bridge. */
function isTakenAway(error: unknown): boolean {
  return error instanceof StatusError && [401, 403, 404, 410].includes(error.status);
}

/** Pages of a list that seldom changes. What an earlier operation of the tenant has read needs no call. */
export interface ReferencePageLoader<Row, Query extends PageQuery> extends PageLoader<Row, Query> {
  /** Whether a page is answered without a call. */
  knows(query: Query): boolean;
  /** Whether a page was read in this operation, so that what it lacks is not there. */
  isOwn(query: Query): boolean;
  /**
   * From here on, answers nothing that an earlier operation has read, as that may be outdated. Says whether any such page
   * has been answered before, so that what was made of it is to be forgotten too.
   */
  forgetEarlier(): boolean;
}

/** Makes the loaders of an operation over lists that seldom change; `list` tells those in `pages` apart. */
export function referenceLoaders(caller: Caller, pages: ReferencePages) {
  return <Row extends { name: string }, Query extends PageQuery>(
    list: string,
    read: (query: Query, caller: Caller) => Promise<Page<Row>>,
  ): ReferencePageLoader<Row, Query> => {
    // What this operation has read itself, and what an earlier one has read for it.
    const own = new Set<string>();
    const earlier = new Set<Query>();
    let isEarlierWelcome = true;
    const keyOf = (query: Query) => `${list} ${queryKey(query)}`;

    async function page(query: Query): Promise<Page<Row>> {
      const key = keyOf(query);
      const known = isEarlierWelcome ? pages.find(key) : undefined;
      if (known === undefined) {
        const page = await pages.read(key, () => read(query, caller));
        own.add(key);
        return page;
      }
      earlier.add(query);
      caller.ledger.cached += 1;
      if (known.isDue) pages.renew(key, () => read(query, forLater(caller)));
      // Under the name of a list there are only pages of its own.
      return known.page as Page<Row>;
    }

    const loader = pageLoader(page);
    return {
      ...loader,
      clearAll() {
        own.clear();
        loader.clearAll();
      },
      isOwn: (query) => own.has(keyOf(query)),
      knows: (query) => own.has(keyOf(query)) || (isEarlierWelcome && pages.has(keyOf(query))),
      forgetEarlier() {
        isEarlierWelcome = false;
        const wasAnswered = earlier.size > 0;
        for (const query of earlier) loader.clear(query);
        earlier.clear();
        return wasAnswered;
      },
    };
  };
}

/** The caller of a read that later operations gain from: it outlives this one, and costs it nothing but a turn. */
function forLater(caller: Caller): Caller {
  return { ...caller, signal: new AbortController().signal, ledger: createLedger(), spend: () => {} };
}
