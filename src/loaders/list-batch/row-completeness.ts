/**
 * Guards list batches against incomplete rows. A list may return fewer fields than the GET of the same record.
 * Then the records of the batch are read by GETs, and list pages are not used for ten minutes.
 */

import { within } from '../../concurrency/within.ts';
import { isJsonObject } from '../../rest/json-object.ts';
import type { RecordResult } from '../record-loader.ts';
import type { PointReads } from './point-reads.ts';

/**
 * Finds out for one tenant whether list rows lack fields that the GET of the same record returns. One row is compared
 * with its record on the first page of the process, and on a tenant's third page. Both repeat every 30 seconds. So a
 * new token causes no comparison.
 */
export class RowCompleteness {
  readonly #process: ProcessCompleteness;
  readonly #now: () => number;
  #pageCount = 0;
  /** The number of started comparisons, and the start of the last one. */
  #comparisonCount = 0;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #comparedAtMs = Number.NEGATIVE_INFINITY;
  #incompleteUntil = Number.NEGATIVE_INFINITY;

  constructor(process: ProcessCompleteness, now: () => number) {
    this.#process = process;
    this.#now = now;
  }

  /** Whether incomplete rows were found within the last ten minutes. */
  isIncomplete(): boolean {
    return this.#now() < this.#incompleteUntil;
  }

  /**
   * Starts a comparison if one is due. The rows of the next page are used only after the comparison. After the
   * first three, at most one comparison starts per 30 seconds, even if no record arrives.
   * @returns the name to compare, or undefined. The newest names are avoided, because new records have the fewest
   * fields. Each comparison uses another name, because a field may be empty in one record and set in another.
   */
  startComparison(names: readonly string[]): string | undefined {
    const now = this.#now();
    if (!this.#isDue(now)) return undefined;
    const index = Math.floor(names.length / 2) + this.#comparisonCount;
    this.#comparisonCount += 1;
    this.#startedAtMs = now;
    return names[index % names.length];
  }

  #isDue(now: number): boolean {
    if (this.#comparisonCount >= 3 && now - this.#startedAtMs < comparisonIntervalMs) return false;
    if (now - this.#process.comparedAtMs >= comparisonIntervalMs) return true;
    return this.#pageCount >= pagesBeforeComparison && now - this.#comparedAtMs >= comparisonIntervalMs;
  }

  /** Counts a batch that read pages. */
  countPage(): void {
    this.#pageCount += 1;
  }

  /**
   * Compares one row with its record: the row of `preferredName` if there is one, otherwise the last row.
   * @param limitMs How long to wait for the record, in milliseconds. Without a record, a later page is compared.
   * @returns the records of all rows, to replace the rows, if the row was incomplete. Otherwise undefined.
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
      const record = row && (await within(limitMs, reads.start(comparedName)));
      if (!row || !record || record instanceof Error) return undefined;
      this.#comparedAtMs = this.#now();
      this.#process.comparedAtMs = this.#comparedAtMs;
      if (!lacksFields(row, record)) return undefined;
    }
    const records = await reads.all(names);
    const byName = new Map(names.map((name, index) => [name, records[index] ?? null]));
    this.#learn(rows, byName);
    return byName;
  }

  /**
   * Turns list pages off after two incomplete rows, or after one if only one was compared. One of several rows may have
   * changed between the two reads.
   */
  #learn(rows: ReadonlyMap<string, object>, records: ReadonlyMap<string, RecordResult<object>>): void {
    const pairs = [...rows].flatMap(([name, row]) => {
      const record = records.get(name);
      return !record || record instanceof Error ? [] : [{ row, record }];
    });
    const lacking = pairs.filter(({ row, record }) => lacksFields(row, record)).length;
    if (lacking === 0 || lacking < Math.min(pairs.length, 2)) return;
    this.#incompleteUntil = this.#now() + incompleteMs;
    // The next page of any tenant is compared again, and so is the next page of this tenant.
    this.#process.comparedAtMs = Number.NEGATIVE_INFINITY;
    this.#pageCount = pagesBeforeComparison;
  }
}

/** When a row of the list was last compared, for any tenant. */
export interface ProcessCompleteness {
  comparedAtMs: number;
}

const comparisonIntervalMs = 30_000;
const pagesBeforeComparison = 2;
const incompleteMs = 600_000;

/** Whether a field is set in a record and empty in its row, unless the record changed between the two reads. */
export function lacksFields(row: object, record: object): boolean {
  return !hasChanged(row, record) && lacks(row, record);
}

/** Different update times mean that the record changed between the two reads. */
function hasChanged(row: { updateTime?: unknown }, record: { updateTime?: unknown }): boolean {
  const times = [row.updateTime, record.updateTime];
  return times.every((time) => time !== undefined) && times[0] !== times[1];
}

/** Arrays in a record are not compared, because their lengths differ. */
function lacks(row: object, record: object): boolean {
  const rowFields: Record<string, unknown> = { ...row };
  return Object.entries(record).some(([field, value]) => {
    if (value === null || value === undefined) return false;
    const rowValue = rowFields[field];
    if (rowValue === null || rowValue === undefined) return true;
    return isJsonObject(value) && isJsonObject(rowValue) && lacks(rowValue, value);
  });
}
