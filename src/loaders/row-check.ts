import type { Gets } from './gets.ts';

/**
 * Watches whether the rows of a list are the records that gets answer. That is REST's doing and no tenant's, so that one
 * serves all; it keeps nothing of a record.
 */
export interface RowCheck {
  /** Whether rows lacked what the gets of the same records had. After ten minutes it is looked at again. */
  areRowsLacking(): boolean;
  /** Whether a row is to be held against the get of the same record: at first, and then twice a minute. */
  isDue(): boolean;
  /** Which of these names, newest first as a rule: not the newest, which have the fewest fields, and each time another. */
  nameToCheck(names: readonly string[]): string | undefined;
  /** Learns from rows and the gets of the same records. One that differs may have changed in between; two have not. */
  compare(pairs: readonly (readonly [row: object, got: object])[]): void;
}

const msPerCheck = 30_000;
const msOfDistrust = 600_000;

/** `now` counts milliseconds, from whenever. */
export function createRowCheck(now = () => performance.now()): RowCheck {
  let checks = 0;
  let checkedAt: number | undefined;
  let distrustedAt: number | undefined;
  return {
    areRowsLacking: () => distrustedAt !== undefined && now() - distrustedAt < msOfDistrust,
    isDue: () => checkedAt === undefined || now() - checkedAt >= msPerCheck,
    nameToCheck: (names) => names[(Math.floor(names.length / 2) + checks) % names.length],
    compare(pairs) {
      if (pairs.length === 0) return;
      const lacking = pairs.filter(([row, got]) => lacksFields(row, got)).length;
      const areLacking = lacking >= Math.min(pairs.length, 2);
      if (areLacking) distrustedAt = now();
      // With the first list that is trusted again, it is looked at again.
      checkedAt = areLacking ? undefined : now();
      checks += 1;
    },
  };
}

/**
 * Holds a row against its get. Where it lacks something, the gets of all rows, to be answered in their place; otherwise
 * undefined. `preferred` is the name of the row to look at, if it is there.
 */
export async function answersInPlaceOf<Json extends object>(
  rows: ReadonlyMap<string, Json>,
  preferred: string,
  { gets, rowCheck }: { gets: Gets<Json>; rowCheck: RowCheck },
): Promise<Map<string, Json | null | Error> | undefined> {
  const names = [...rows.keys()];
  const checked = rows.has(preferred) ? preferred : rowCheck.nameToCheck(names);
  if (checked === undefined) return undefined;
  const [pair] = pairsOf(rows, await gets.all([checked]));
  if (pair === undefined) return undefined;
  const answers = lacksFields(...pair) ? await gets.all(names) : undefined;
  rowCheck.compare(answers === undefined ? [pair] : pairsOf(rows, answers));
  return answers;
}

function pairsOf<Json extends object>(
  rows: ReadonlyMap<string, Json>,
  answers: ReadonlyMap<string, Json | null | Error>,
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
