import type { Gets } from './gets.ts';
import type { Settled } from './settling.ts';
import { createUnseenFields, type UnseenFields } from './unseen-fields.ts';

/**
 * Watches whether the rows of a list are the records that gets answer, for one tenant and resource. It keeps the names of
 * fields, and nothing of a record.
 */
export interface RowCheck {
  /** Whether rows lacked what the gets of the same records had. After ten minutes it is looked at again. */
  areRowsLacking(): boolean;
  /**
   * Whether a row is to be held against the get of the same record: with the first list, or the third where another
   * tenant's rows were found whole; soon again, then with each twentieth and after half a minute; and where gets had fields
   * of which no row has been seen to have any.
   */
  isDue(): boolean;
  /** Begins a check, and says of which name. */
  begin(names: readonly string[]): string | undefined;
  /** Which of these names: not the newest, which have the fewest fields, and each time another. */
  nameToCheck(names: readonly string[]): string | undefined;
  /** Learns from rows and the gets of the same records. One that differs may have changed in between; two have not. */
  compare(pairs: readonly (readonly [row: object, got: object])[]): void;
  /** A list has answered. */
  sawRows(rows: readonly object[]): void;
  sawGet(record: object): void;
}

/** What is known of a resource of the service, whoever's. */
export interface RowTrust {
  /** Whether rows were whole the last time that any were looked at. */
  areWhole: boolean;
}

const msPerCheck = 30_000;
// Between one check and the next; the last holds from then on.
const listsPerCheck = [2, 3, 20];
const listsBeforeFirst = 2;
const attemptsAtFirst = 3;
const msOfDistrust = 600_000;

/** `now` counts milliseconds, from whenever. */
export function createRowCheck(
  trust: RowTrust = { areWhole: false },
  now = () => performance.now(),
): RowCheck {
  return new Check(trust, now);
}

/** A class, as each tenant that is remembered has some. */
class Check implements RowCheck {
  readonly #trust: RowTrust;
  readonly #now: () => number;
  /** From the first list on: before it there is nothing to hold a get against. */
  #unseen: UnseenFields | undefined;
  #attempts = 0;
  #hasCompared = false;
  #listsSince = 0;
  #begunAt = 0;
  #distrustedAt: number | undefined;

  constructor(trust: RowTrust, now: () => number) {
    this.#trust = trust;
    this.#now = now;
  }

  areRowsLacking(): boolean {
    return this.#distrustedAt !== undefined && this.#now() - this.#distrustedAt < msOfDistrust;
  }

  isDue(): boolean {
    if (this.#attempts === 0 && this.#trust.areWhole) return this.#listsSince >= listsBeforeFirst;
    if (!this.#hasCompared && this.#attempts < attemptsAtFirst) return true;
    const listsEnough = listsPerCheck[this.#attempts - 1] ?? listsPerCheck.at(-1) ?? 0;
    if (this.#listsSince >= listsEnough || this.#now() - this.#begunAt >= msPerCheck) return true;
    return this.#unseen?.areSuspicious() === true;
  }

  begin(names: readonly string[]): string | undefined {
    this.#attempts += 1;
    this.#listsSince = 0;
    this.#begunAt = this.#now();
    this.#unseen ??= createUnseenFields();
    this.#unseen.lookedFor();
    return this.nameToCheck(names);
  }

  nameToCheck(names: readonly string[]): string | undefined {
    return names[(Math.floor(names.length / 2) + Math.max(this.#attempts - 1, 0)) % names.length];
  }

  compare(pairs: readonly (readonly [row: object, got: object])[]): void {
    if (pairs.length === 0) return;
    this.#hasCompared = true;
    const lacking = pairs.filter(([row, got]) => lacksFields(row, got)).length;
    this.#trust.areWhole = lacking === 0;
    if (lacking < Math.min(pairs.length, 2)) return;
    this.#distrustedAt = this.#now();
    // With the first list that is trusted again, rows are looked at again.
    this.#attempts = 0;
    this.#hasCompared = false;
  }

  sawRows(rows: readonly object[]): void {
    this.#listsSince += 1;
    this.#unseen ??= createUnseenFields();
    this.#unseen.sawRows(rows);
  }

  sawGet(record: object): void {
    this.#unseen?.sawGet(record);
  }
}

export interface CheckOfRows<Json> {
  /** The name of the row to look at, if it is there. */
  preferred: string;
  /** How long its get is waited for, in milliseconds. */
  patienceMs: number;
  gets: Gets<Json>;
  rowCheck: RowCheck;
}

/**
 * Holds a row against its get. Where it lacks something, the gets of all rows, to be answered in their place; otherwise
 * undefined, as also where the get is late: what it shows then is for the next list.
 */
export async function answersInPlaceOf<Json extends object>(
  rows: ReadonlyMap<string, Json>,
  { preferred, patienceMs, gets, rowCheck }: CheckOfRows<Json>,
): Promise<Map<string, Settled<Json>> | undefined> {
  const names = [...rows.keys()];
  const checked = rows.has(preferred) ? preferred : rowCheck.nameToCheck(names);
  if (checked === undefined) return undefined;

  async function answersOf(names: readonly string[]): Promise<Map<string, Settled<Json>>> {
    const answers = await gets.all(names);
    return new Map(names.map((name, index) => [name, answers[index] ?? null]));
  }

  async function check(name: string): Promise<Map<string, Settled<Json>> | undefined> {
    const [pair] = pairsOf(rows, await answersOf([name]));
    if (pair === undefined) return undefined;
    const answers = lacksFields(...pair) ? await answersOf(names) : undefined;
    rowCheck.compare(answers === undefined ? [pair] : pairsOf(rows, answers));
    return answers;
  }
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, patienceMs);
  const isInTime = gets.begin(checked).answer.then(() => true);
  const first = await Promise.race([isInTime, late]);
  clearTimeout(timer);
  const answers = check(checked);
  return first === undefined ? undefined : answers;
}

function pairsOf<Json extends object>(
  rows: ReadonlyMap<string, Json>,
  answers: ReadonlyMap<string, Settled<Json>>,
): [row: Json, got: Json][] {
  return [...answers].flatMap<[Json, Json]>(([name, got]) => {
    const row = rows.get(name);
    return row === undefined || got === null || got instanceof Error ? [] : [[row, got]];
  });
}

/** Whether the get of a record holds something in a field that is empty in its row. */
export function lacksFields(row: object, got: object): boolean {
  return !haveChanged(row, got) && lacks(row, got);
}

/** Where their times differ, the record has changed in between, and its fields with it. */
function haveChanged(row: { updateTime?: unknown }, got: { updateTime?: unknown }): boolean {
  const times = [row.updateTime, got.updateTime];
  return times.every((time) => time !== undefined) && times[0] !== times[1];
}

/** What is in a list is left aside: lists differ in length. */
function lacks(row: object, got: object): boolean {
  const fieldsOfRow: Record<string, unknown> = { ...row };
  return Object.entries(got).some(([field, value]) => {
    if (value === null || value === undefined) return false;
    const valueOfRow = fieldsOfRow[field];
    if (valueOfRow === null || valueOfRow === undefined) return true;
    return isRecord(value) && isRecord(valueOfRow) && lacks(valueOfRow, value);
  });
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
