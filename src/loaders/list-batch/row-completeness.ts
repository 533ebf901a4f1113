import type { Settled } from '../result.ts';
import type { PointReads } from './point-reads.ts';

/**
 * Whether the rows of a list hold all that the gets of the same records answer, for one tenant. One row is compared with its
 * record now and then: of the first page of the process and the third of a tenant, and then once in half a minute for each.
 * So a new token costs no comparison.
 */
export class RowCompleteness {
  readonly #process: ProcessCompleteness;
  readonly #now: () => number;
  #pages = 0;
  /** How many comparisons have been begun, and when the last was. */
  #begun = 0;
  #begunAt = Number.NEGATIVE_INFINITY;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #offUntil = Number.NEGATIVE_INFINITY;

  constructor(process: ProcessCompleteness, now: () => number) {
    this.#process = process;
    this.#now = now;
  }

  /** Whether rows of the list have lacked what their records have, in the last ten minutes. */
  isLacking(): boolean {
    return this.#now() < this.#offUntil;
  }

  /**
   * Begins a comparison where one is due: a row of the next page with its record, before its rows are used. After three, none
   * begins within half a minute of the last, also where no record came.
   * @returns the name of the row. Not the newest, which have the fewest fields, and each time another: one may be empty in a
   * field that others have.
   */
  begin(names: readonly string[]): string | undefined {
    const at = this.#now();
    if (!this.#isDue(at)) return undefined;
    const index = Math.floor(names.length / 2) + this.#begun;
    this.#begun += 1;
    this.#begunAt = at;
    return names[index % names.length];
  }

  #isDue(at: number): boolean {
    if (this.#begun >= 3 && at - this.#begunAt < msPerComparison) return false;
    if (at - this.#process.comparedAt >= msPerComparison) return true;
    return this.#pages >= pagesUncompared && at - this.#comparedAt >= msPerComparison;
  }

  countPage(): void {
    this.#pages += 1;
  }

  /**
   * Compares a row with its record, the row of `preferred` where there is one. Where rows lack something, the records of all of
   * them, to be answered in their place; otherwise undefined, as also where no record comes within `limitMs` milliseconds: a
   * row of the next page is then compared.
   */
  async recordsInPlaceOf<Json extends object>(
    rows: ReadonlyMap<string, Json>,
    preferred: string | undefined,
    reads: PointReads<Json>,
    limitMs: number,
  ): Promise<ReadonlyMap<string, Settled<Json>> | undefined> {
    const names = [...rows.keys()];
    if (!this.isLacking()) {
      const compared = preferred !== undefined && rows.has(preferred) ? preferred : (names.at(-1) ?? '');
      const row = rows.get(compared);
      const record = row && (await within(limitMs, reads.begin(compared)));
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
  #learn(rows: ReadonlyMap<string, object>, records: ReadonlyMap<string, Settled<object>>): void {
    const pairs = [...rows].flatMap(([name, row]) => {
      const record = records.get(name);
      return !record || record instanceof Error ? [] : [{ row, record }];
    });
    const lacking = pairs.filter(({ row, record }) => lacksFields(row, record)).length;
    if (lacking === 0 || lacking < Math.min(pairs.length, 2)) return;
    this.#offUntil = this.#now() + msOff;
    // The next page is compared again, whoever asks for it, and so is the next of this tenant.
    this.#process.comparedAt = Number.NEGATIVE_INFINITY;
    this.#pages = pagesUncompared;
  }
}

/** When a row of the list was compared last, whoever's. */
export interface ProcessCompleteness {
  comparedAt: number;
}

const msPerComparison = 30_000;
const pagesUncompared = 2;
const msOff = 600_000;

/** What comes within so many milliseconds, or undefined. */
async function within<Value>(ms: number, coming: Promise<Value>): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, ms);
  const first = await Promise.race([coming, late.promise]);
  clearTimeout(timer);
  return first;
}

/** Whether a record holds something in a field that is empty in its row. */
export function lacksFields(row: object, record: object): boolean {
  return !haveChanged(row, record) && lacks(row, record);
}

/** Where their times differ, the record has changed in between, and its fields with it. */
function haveChanged(row: { updateTime?: unknown }, record: { updateTime?: unknown }): boolean {
  const times = [row.updateTime, record.updateTime];
  return times.every((time) => time !== undefined) && times[0] !== times[1];
}

/** Lists in a record are not compared, as they differ in length. */
function lacks(row: object, record: object): boolean {
  const fieldsOfRow: Record<string, unknown> = { ...row };
  return Object.entries(record).some(([field, value]) => {
    if (value === null || value === undefined) return false;
    const valueOfRow = fieldsOfRow[field];
    if (valueOfRow === null || valueOfRow === undefined) return true;
    return isRecord(value) && isRecord(valueOfRow) && lacks(valueOfRow, value);
  });
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
