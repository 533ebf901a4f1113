import type { RecordResult } from '../result.ts';
import type { PointReads } from './point-reads.ts';

/**
 * Whether the rows of a list hold all that the gets of the same records answer, for one tenant. One row is compared with its
 * record now and then: of the first page of the process and the third of a tenant, and then once in half a minute for each.
 * So a new token costs no comparison.
 */
export class RowCompleteness {
  readonly #process: ProcessCompleteness;
  readonly #now: () => number;
  #pageCount = 0;
  /** How many comparisons have been begun, and when the last was. */
  #comparisonCount = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #incompleteUntil = Number.NEGATIVE_INFINITY;

  constructor(process: ProcessCompleteness, now: () => number) {
    this.#process = process;
    this.#now = now;
  }

  /** Whether rows of the list have lacked what their records have, in the last ten minutes. */
  isIncomplete(): boolean {
    return this.#now() < this.#incompleteUntil;
  }

  /**
   * Begins a comparison where one is due: a row of the next page with its record, before its rows are used. After three, none
   * begins within half a minute of the last, also where no record came.
   * @returns the name of the row. Not the newest, which have the fewest fields, and each time another: one may be empty in a
   * field that others have.
   */
  startComparison(names: readonly string[]): string | undefined {
    const now = this.#now();
    if (!this.#isDue(now)) return undefined;
    const index = Math.floor(names.length / 2) + this.#comparisonCount;
    this.#comparisonCount += 1;
    this.#startedAt = now;
    return names[index % names.length];
  }

  #isDue(now: number): boolean {
    if (this.#comparisonCount >= 3 && now - this.#startedAt < comparisonIntervalMs) return false;
    if (now - this.#process.comparedAt >= comparisonIntervalMs) return true;
    return this.#pageCount >= pagesBeforeComparison && now - this.#comparedAt >= comparisonIntervalMs;
  }

  countPage(): void {
    this.#pageCount += 1;
  }

  /**
   * Compares a row with its record, the row of `preferred` where there is one. Where rows lack something, the records of all of
   * them, to be answered in their place; otherwise undefined, as also where no record comes within `limitMs` milliseconds: a
   * row of the next page is then compared.
   */
  async replacementRecords<Json extends object>(
    rows: ReadonlyMap<string, Json>,
    preferredName: string | undefined,
    reads: PointReads<Json>,
    limitMs: number,
  ): Promise<ReadonlyMap<string, RecordResult<Json>> | undefined> {
    const names = [...rows.keys()];
    if (!this.isIncomplete()) {
      const comparedName =
        preferredName !== undefined && rows.has(preferredName) ? preferredName : (names.at(-1) ?? '');
      const row = rows.get(comparedName);
      const record = row && (await withTimeout(limitMs, reads.start(comparedName)));
      if (!row || !record || record instanceof Error) return undefined;
      this.#comparedAt = this.#now();
      this.#process.comparedAt = this.#comparedAt;
      if (!lacksFields(row, record)) return undefined;
    }
    const records = await reads.all(names);
    const byName = new Map(names.map((name, index) => [name, records[index] ?? null]));
    this.#learn(rows, byName);
    return byName;
  }

  /** One row that lacks something may have changed in between; two have not. */
  #learn(rows: ReadonlyMap<string, object>, records: ReadonlyMap<string, RecordResult<object>>): void {
    const pairs = [...rows].flatMap(([name, row]) => {
      const record = records.get(name);
      return !record || record instanceof Error ? [] : [{ row, record }];
    });
    const lacking = pairs.filter(({ row, record }) => lacksFields(row, record)).length;
    if (lacking === 0 || lacking < Math.min(pairs.length, 2)) return;
    this.#incompleteUntil = this.#now() + incompleteMs;
    // The next page is compared again, whoever asks for it, and so is the next of this tenant.
    this.#process.comparedAt = Number.NEGATIVE_INFINITY;
    this.#pageCount = pagesBeforeComparison;
  }
}

/** When a row of the list was compared last, whoever's. */
export interface ProcessCompleteness {
  comparedAt: number;
}

const comparisonIntervalMs = 30_000;
const pagesBeforeComparison = 2;
const incompleteMs = 600_000;

/** What comes within so many milliseconds, or undefined. */
async function withTimeout<Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> {
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(timeout.resolve, ms);
  const result = await Promise.race([promise, timeout.promise]);
  clearTimeout(timer);
  return result;
}

/** Whether a record holds something in a field that is empty in its row. */
export function lacksFields(row: object, record: object): boolean {
  return !hasChanged(row, record) && lacks(row, record);
}

/** Where their times differ, the record has changed in between, and its fields with it. */
function hasChanged(row: { updateTime?: unknown }, record: { updateTime?: unknown }): boolean {
  const times = [row.updateTime, record.updateTime];
  return times.every((time) => time !== undefined) && times[0] !== times[1];
}

/** Lists in a record are not compared, as they differ in length. */
function lacks(row: object, record: object): boolean {
  const rowFields: Record<string, unknown> = { ...row };
  return Object.entries(record).some(([field, value]) => {
    if (value === null || value === undefined) return false;
    const rowValue = rowFields[field];
    if (rowValue === null || rowValue === undefined) return true;
    return isRecord(value) && isRecord(rowValue) && lacks(rowValue, value);
  });
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
