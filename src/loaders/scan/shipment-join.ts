import type { Page, PageQuery } from '../../rest/api-types.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { InvalidResponseError } from '../../rest/errors.ts';
import { isResourceName } from '../../rest/resource-name.ts';
import type { OrderJson, ShipmentJson } from '../../rest/wire-schema.ts';
import { type Position, startOfList } from '../paging/cursor.ts';
import { uncountedPages } from '../paging/page-loader.ts';
import { PageWalk } from '../paging/page-walk.ts';
import { type RecordLoader, settleAll } from '../record-loader.ts';
import { createLaterRowsBound } from './list-sequence.ts';
import { createdAtMs } from './row-filter.ts';

// Fewer shipments are read by their ids: a page without hits would cost more.
const minIdsForPage = 5;
/** The most shipments that one operation reads by id, because no page has them. */
const maxGets = 50;
const minFirstPageRows = 100;

export interface ShipmentJoinOptions {
  list(query: PageQuery, callContext: CallContext): Promise<Page<ShipmentJson>>;
  get(name: string, callContext: CallContext): Promise<ShipmentJson>;
  maxPageSize: number;
  /** Gets the shipments of the matching orders. */
  byName: RecordLoader<ShipmentJson>;
  callContext: CallContext;
}

/**
 * The statuses of the shipments that orders name, for all fields of an operation. The pages of `GET /v1/shipments` are read
 * forward, each once, and answer for all orders that follow. Each is one of the pages that the operation may scan. A few
 * shipments that the pages lack are read by id.
 */
export class ShipmentJoin {
  readonly #options: ShipmentJoinOptions;
  readonly #halfTimeMs: number;
  readonly #generation: number;
  /** By the name of the shipment. An error if the shipment can't be read. */
  readonly #statuses = new Map<string, string | Error>();
  /** The statuses of shipments that the operation returns, and these shipments by name. */
  readonly #keptStatuses = new Set<string>();
  readonly #kept = new Map<string, ShipmentJson>();
  #pages: ForwardPages | undefined;
  #getsLeft = maxGets;
  /** Whether a few shipments were read by id in place of a page that may not be read. This is done once. */
  #hasReadLast = false;
  /** Ends with the latest `readMore`: they run one after the other. */
  #latestRead: Promise<unknown> = Promise.resolve();

  constructor(options: ShipmentJoinOptions) {
    this.#options = options;
    this.#halfTimeMs = options.callContext.deadline.remainingMs() / 2;
    this.#generation = options.byName.generation;
  }

  /**
   * Prepares the read. Call it before the first order is looked at.
   * @param start the `joined` of the client's cursor
   * @param kept the statuses of the shipments to keep, because the operation returns them
   */
  start(start: Position['joined'], kept: readonly string[]): void {
    const { list, maxPageSize, callContext } = this.#options;
    this.#pages ??= new ForwardPages((query) => list(query, callContext), maxPageSize, start);
    for (const status of kept) this.#keptStatuses.add(status);
  }

  /** The status of an order's shipment, if known: empty if the order has none, and an error if it can't be read. */
  statusOf({ shipment: name }: OrderJson): string | Error | undefined {
    if (!name) return '';
    if (isResourceName('shipments', name)) return this.#statuses.get(name);
    return new InvalidResponseError('The REST service sent an order whose shipment has no valid name');
  }

  /** Gives the kept shipments of these orders to the loader, so that they cost no call. */
  prime(orders: readonly OrderJson[]): void {
    const rows = orders.flatMap(({ shipment }) => this.#kept.get(shipment ?? '') ?? []);
    if (rows.length > 0) this.#options.byName.prime(rows, this.#generation);
  }

  /** For the cursors of rows whose shipments have been found in the pages so far. */
  get position(): Position['joined'] {
    return this.#pages?.resumeToken;
  }

  /**
   * Reads a page, or some shipments by id.
   * @param orders those with an unknown shipment. The first ones matter most.
   * @returns false if the operation may read no more for them
   * @throws the error of a page
   */
  readMore(orders: readonly OrderJson[]): Promise<boolean> {
    const more = this.#latestRead.then(async () => {
      // While this field waited, another one may have read for some of these orders. The caller then looks at them first.
      if (orders.some((order) => this.statusOf(order) !== undefined)) return true;
      return this.#read(orders);
    });
    // The field that asked for this read gets its error.
    this.#latestRead = more.catch(() => {});
    return more;
  }

  async #read(orders: readonly OrderJson[]): Promise<boolean> {
    // Other fields need reads too.
    const readsLeft = Math.ceil(this.#options.callContext.readsLeft() / 2);
    const maxIds = Math.min(this.#getsLeft, readsLeft);
    if (readsLeft === 0) return false;
    const aheadCount = orders.filter((order) => this.#pages?.mayBeAhead(order)).length;
    const needsPage = aheadCount >= minIdsForPage || (aheadCount > 0 && maxIds === 0);
    if (!needsPage) return this.#readFirstByIds(orders, maxIds);
    if (await this.#takePage()) {
      await this.#readPage(orders.length);
      return true;
    }
    // No page may be read any more. This operation once reads a few shipments by id, so that its cursor is further on.
    if (this.#hasReadLast) return false;
    this.#hasReadLast = true;
    return this.#readFirstByIds(orders, Math.min(maxIds, minIdsForPage - 1));
  }

  /** @returns whether any shipment was read. */
  async #readFirstByIds(orders: readonly OrderJson[], count: number): Promise<boolean> {
    await this.#readByIds(orders.slice(0, count).map(({ shipment }) => shipment ?? ''));
    return count > 0;
  }

  /** Whether a page may be read: within the budget, and after the first page only in the first half of the time. */
  async #takePage(): Promise<boolean> {
    const { deadline, scanBudget } = this.#options.callContext;
    await scanBudget.nextTurn();
    const isLate = (this.#pages?.count ?? 0) > 0 && deadline.remainingMs() < this.#halfTimeMs;
    return !isLate && scanBudget.take();
  }

  async #readPage(orderCount: number): Promise<void> {
    const rows = (await this.#pages?.next(Math.max(orderCount, minFirstPageRows))) ?? [];
    for (const row of rows) if (!(row instanceof InvalidResponseError)) this.#noteStatus(row);
  }

  async #readByIds(names: readonly string[]): Promise<void> {
    const { get, callContext } = this.#options;
    const distinct = [...new Set(names)];
    this.#getsLeft -= distinct.length;
    const records = await settleAll(distinct, (name) => get(name, callContext));
    for (const [index, name] of distinct.entries()) {
      const record = records[index] ?? noSuchShipment();
      // A status that is not usable matches no filter.
      if (record instanceof Error) this.#statuses.set(name, record);
      else if (!this.#noteStatus(record, name)) this.#statuses.set(name, '');
    }
  }

  /** Notes the status of a shipment. @returns false if it is not usable. A row without a usable one is read by its id. */
  #noteStatus(shipment: ShipmentJson, name = shipment.name): boolean {
    const { status } = shipment;
    if (typeof status !== 'string' || status === '') return false;
    this.#statuses.set(name, status);
    if (this.#keptStatuses.has(status)) this.#kept.set(name, shipment);
    return true;
  }
}

const noSuchShipment = () =>
  new InvalidResponseError('The REST service does not have the shipment that the order names');

/**
 * The pages of a list from a page on, then those from the start up to that page. Each row is read once. The first page is
 * one at which the client's cursor was made: the next shipments are probably there.
 */
class ForwardPages {
  /** The pages read so far. */
  count = 0;
  /** For cursors: the token of the last page but one. Shipments of neighbouring orders may be on the last two pages. */
  resumeToken: string | undefined;
  readonly #load: (query: PageQuery) => Promise<Page<ShipmentJson>>;
  readonly #maxPageSize: number;
  readonly #start: string | undefined;
  #walk: PageWalk<ShipmentJson, PageQuery>;
  #boundLaterRows = createLaterRowsBound();
  /** No row of a later page was created after this time. */
  #laterRowsBoundMs = Number.POSITIVE_INFINITY;
  /** The name of the first row that was read. */
  #firstName: string | undefined;
  #lastToken: string | undefined;
  /** Whether the pages are those from the start of the list on. */
  #hasWrapped: boolean;
  #isAtEnd = false;

  constructor(load: (query: PageQuery) => Promise<Page<ShipmentJson>>, maxPageSize: number, start?: string) {
    this.#load = load;
    this.#maxPageSize = maxPageSize;
    this.#start = start;
    this.#hasWrapped = start === undefined;
    this.resumeToken = start;
    this.#walk = this.#walkFrom(start);
  }

  #walkFrom(pageToken: string | undefined) {
    const pages = uncountedPages(this.#load, this.#maxPageSize);
    return new PageWalk(pages, {}, { ...startOfList, pageToken });
  }

  /** Whether the order's shipment may be on a later page. A shipment is created after its order. */
  mayBeAhead(order: OrderJson): boolean {
    return !this.#isAtEnd && !((createdAtMs(order) ?? -Infinity) > this.#laterRowsBoundMs);
  }

  /**
   * Reads the next page. After the last page of the list, the first page follows. The walk ends with the page before the
   * one that it began with, or with the page that has the first row again.
   * @param firstPageRows the rows of the first page. Further pages are as large as possible.
   */
  async next(firstPageRows: number): Promise<Page<ShipmentJson>['rows']> {
    const isFirst = this.count === 0;
    this.count += 1;
    const { page, position } = await this.#walk.next(isFirst ? firstPageRows : this.#maxPageSize);
    const { rows, nextPageToken } = page;
    const names = rows.map((row) => (row instanceof InvalidResponseError ? undefined : row.name));
    const hasFirstRow = this.#firstName !== undefined && names.includes(this.#firstName);
    const isBackAtStart = this.#start !== undefined && (nextPageToken === this.#start || hasFirstRow);
    const isAround = this.#hasWrapped && isBackAtStart;
    this.#firstName ??= names.find((name) => name !== undefined);
    this.#laterRowsBoundMs = this.#boundLaterRows(rows);
    this.resumeToken = isFirst ? this.#start : this.#lastToken;
    this.#lastToken = position.pageToken;
    if (isAround || (nextPageToken === undefined && this.#hasWrapped)) this.#isAtEnd = true;
    else if (nextPageToken === undefined) this.#wrap();
    return rows;
  }

  #wrap(): void {
    this.#hasWrapped = true;
    this.#walk = this.#walkFrom(undefined);
    this.#boundLaterRows = createLaterRowsBound();
    this.#laterRowsBoundMs = Number.POSITIVE_INFINITY;
  }
}
