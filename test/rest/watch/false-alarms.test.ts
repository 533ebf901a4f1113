import fc from 'fast-check';
import { expect, test } from 'vitest';
import { neverAborted } from '../../../src/concurrency/cancellation.ts';
import { ListCursors, type Position } from '../../../src/loaders/paging/cursor.ts';
import { PageLoader } from '../../../src/loaders/paging/page-loader.ts';
import { readPageSlice } from '../../../src/loaders/paging/page-slice.ts';
import { recordLoader } from '../../../src/loaders/record-loader.ts';
import { readFilteredSlice } from '../../../src/loaders/scan/filtered-slice.ts';
import { createScans } from '../../../src/loaders/scan/list-scan.ts';
import type { OrderQuery } from '../../../src/rest/api-types.ts';
import type { RestCall } from '../../../src/rest/call.ts';
import { createResourceClient } from '../../../src/rest/resource-client.ts';
import { createParameterWatch } from '../../../src/rest/watch/parameter-watch.ts';
import type { OrderJson } from '../../../src/rest/wire-schema.ts';
import { createCallContexts } from '../../fixtures/call-contexts.ts';
import { bearer, parameterNames } from '../../fixtures/rest-service.ts';

// A list of a REST service that knows all names of the parameters. Rows come, go, change and move between any two reads.
// `npm run test:pages` reads 100,000 pages.

const pages = Number(process.env.PAGES ?? 5_000);

interface Order {
  name: string;
  createTime: string;
  updateTime: string;
  status: string;
  notes: string;
}

type Sorting = 'newest first' | 'oldest first' | 'last updated first' | 'by name' | 'shuffled';
type Tokens = 'offsets' | 'keys' | 'random texts';

const sortings: Sorting[] = ['newest first', 'oldest first', 'last updated first', 'by name', 'shuffled'];
const tokens: Tokens[] = ['offsets', 'keys', 'random texts'];
const statuses = ['NEW', 'CONFIRMED', 'READY'];

interface Dialect {
  sorting: Sorting;
  tokens: Tokens;
  /** Some pages between the first and the last one are empty. */
  hasEmptyPages: boolean;
  /** The share of reads before which a row is written. */
  writes: number;
}

/** A list with the numbers of a seed. */
class ChangingList {
  readonly #dialect: Dialect;
  #random: number;
  #nextNumber = 0;
  #timeMs = Date.parse('2026-01-01T00:00:00Z');
  #rows: Order[] = [];
  readonly #issued = new Map<string, number>();
  calls = 0;

  constructor(dialect: Dialect, seed: number, size: number) {
    this.#dialect = dialect;
    this.#random = seed;
    for (let count = 0; count < size; count += 1) this.#insert();
  }

  readonly send = async ({ query = {} }: RestCall) => {
    this.calls += 1;
    if (this.#below(1_000) < this.#dialect.writes * 1_000) this.#write();
    const wanted = query.status?.split(',');
    const listed = this.#sorted().filter(
      ({ status, notes }) =>
        (wanted === undefined || wanted.includes(status)) && notes.includes(query.search ?? ''),
    );
    const start = this.#startOf(query.pageToken, listed);
    const end = start + Number(query.pageSize);
    const isEmpty = this.#dialect.hasEmptyPages && query.pageToken !== undefined && this.#below(10) === 0;
    const rows = isEmpty ? [] : listed.slice(start, end).map((row) => ({ ...row }));
    // The index of the service knows a change of the status late.
    const stale = rows[this.#below(rows.length || 1)];
    if (stale !== undefined && this.#below(50) === 0) stale.status = 'DELIVERED';
    const next = isEmpty ? start : end;
    // A service that has searched for rows in vain goes on behind them, so its token is new.
    const suffix = isEmpty ? `.${this.calls}` : '';
    const nextPageToken = next < listed.length ? `${this.#tokenFor(next, listed)}${suffix}` : '';
    return { orders: rows, nextPageToken };
  };

  #below(limit: number): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * limit);
  }

  #insert(): void {
    this.#nextNumber += 1;
    this.#timeMs += 1_000;
    const time = new Date(this.#timeMs).toISOString();
    const status = statuses[this.#below(statuses.length)] ?? 'NEW';
    const notes = `Café ${this.#below(3)}`;
    this.#rows.push({
      name: `orders/${this.#nextNumber}`,
      createTime: time,
      updateTime: time,
      status,
      notes,
    });
  }

  #write(): void {
    const row = this.#rows[this.#below(this.#rows.length)];
    const kind = this.#below(4);
    if (kind === 0 || row === undefined) {
      this.#insert();
      return;
    }
    if (kind === 1 && this.#rows.length > 5) {
      this.#rows.splice(this.#rows.indexOf(row), 1);
      return;
    }
    this.#timeMs += 1_000;
    row.updateTime = new Date(this.#timeMs).toISOString();
    if (kind === 2) row.status = statuses[this.#below(statuses.length)] ?? 'NEW';
  }

  #sorted(): Order[] {
    const by = (key: keyof Order, sign: number) =>
      this.#rows.toSorted((a, b) => (a[key] < b[key] ? -sign : sign));
    switch (this.#dialect.sorting) {
      case 'newest first':
        return this.#rows.toReversed();
      case 'oldest first':
        return this.#rows;
      case 'last updated first':
        return by('updateTime', -1);
      case 'by name':
        return by('name', 1);
      case 'shuffled':
        // The order is the same at each read.
        return this.#rows.toSorted(
          (a, b) => ((Number(a.name.slice(7)) * 7919) % 101) - ((Number(b.name.slice(7)) * 7919) % 101),
        );
    }
  }

  #startOf(token: string | undefined, listed: readonly Order[]): number {
    if (token === undefined) return 0;
    if (this.#dialect.tokens === 'random texts') return this.#issued.get(token.split('.')[0] ?? '') ?? 0;
    if (this.#dialect.tokens === 'offsets') return Number.parseInt(token, 10);
    // The first row behind the key, also if the row with the key has gone.
    const [key = '', offset = ''] = token.split('@');
    const found = listed.findIndex(({ name }) => name === key);
    return found === -1 ? Number.parseInt(offset, 10) : found + 1;
  }

  #tokenFor(start: number, listed: readonly Order[]): string {
    if (this.#dialect.tokens === 'offsets') return String(start);
    if (this.#dialect.tokens === 'keys') return `${listed[start - 1]?.name}@${start}`;
    const token = `t${this.#below(2 ** 31)}${this.#issued.size}`;
    this.#issued.set(token, start);
    return token;
  }
}

const dialect = fc
  .record<Dialect>({
    sorting: fc.constantFrom(...sortings),
    tokens: fc.constantFrom(...tokens),
    hasEmptyPages: fc.boolean(),
    writes: fc.constantFrom(0, 0.1, 0.5, 1),
  })
  // A row that moves down and up again between two reads looks like an ignored token if tokens tell no position.
  .filter(({ tokens, writes }) => tokens !== 'random texts' || writes === 0);

test('correct parameter names cause no report while the list changes', {
  timeout: 600_000,
}, async () => {
  let read = 0;
  const alarms: unknown[] = [];
  await fc.assert(
    fc.asyncProperty(
      dialect,
      fc.nat(),
      fc.constantFrom(0, 1, 6, 60, 400),
      fc.constantFrom(1, 1, 2, 20, 100),
      fc.constantFrom<Omit<OrderQuery, 'pageSize'>>(
        {},
        { status: ['NEW'] },
        { status: ['NEW', 'READY'] },
        { search: 'Café 1' },
      ),
      fc.boolean(),
      async (service, seed, size, first, query, isScanned) => {
        const list = new ChangingList(service, seed, size);
        const problem = (problem: unknown) => alarms.push({ service, seed, size, first, query, problem });
        const watch = createParameterWatch(parameterNames, { onProblem: problem });
        const { fetchPage } = createResourceClient(list.send, watch);
        const callContext = createCallContexts({ readsPerOperation: 1_000_000 }).of(
          bearer,
          new AbortController().signal,
        );
        const cursors = new ListCursors('orders', query);
        let after: Position | undefined;
        for (let count = 0; count < 40 && read < pages; count += 1) {
          const list = ({ pageSize, pageToken, status, search }: OrderQuery) =>
            fetchPage('orders', '/v1/orders', { pageSize, pageToken }, callContext, {
              status: status?.join(','),
              search,
            });
          const loader = new PageLoader(list, 1_000);
          read += 1;
          const byName = recordLoader<OrderJson>(() => Promise.resolve(null));
          // Each page is an operation of its own.
          const operation = createCallContexts().of(bearer, neverAborted);
          const scans = createScans(list, 1_000, byName, operation);
          const filter = { statuses: ['NEW'], createdSinceMs: undefined, createdUntilMs: undefined };
          try {
            const slice = isScanned
              ? await readFilteredSlice(scans(query, after), filter, first)
              : await readPageSlice(loader, query, first, after);
            const last = slice.endPosition ?? slice.rows.at(-1)?.after;
            after = last && slice.hasNextPage ? cursors.decode(cursors.encode(last)) : undefined;
          } catch (error) {
            problem(error);
            after = undefined;
          }
        }
      },
    ),
    { seed: Number(process.env.SEED ?? 20261124), numRuns: pages / 20, endOnFailure: true },
  );
  expect(alarms.slice(0, 3)).toEqual([]);
  expect(read).toBe(pages);
});
