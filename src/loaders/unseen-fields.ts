import { InvalidResponseError } from '../rest/errors.ts';

/**
 * Fields that gets have had, and of which no row of a list has been seen to have any. As records differ in their fields,
 * this is a reason to look at rows more closely, and no more.
 */
export interface UnseenFields {
  sawGet(record: object): void;
  /** Broken rows among them tell nothing. */
  sawRows(rows: readonly object[]): void;
  /** Whether a field of several gets has been in none of many rows. */
  areSuspicious(): boolean;
  /** A row has been held against its get. After some that were whole, the fields are under suspicion no more. */
  lookedFor(): void;
}

const leastGets = 2;
const leastRows = 20;
const looksPerSuspicion = 5;
const mostFields = 200;

export function createUnseenFields(): UnseenFields {
  const known = new Set<string>();
  // How many gets have had each.
  const unseen = new Map<string, number>();
  let rowsSeen = 0;
  let looks = 0;
  const areSuspicious = () => rowsSeen >= leastRows && unseen.values().some((gets) => gets >= leastGets);

  return {
    areSuspicious,
    sawGet(record) {
      for (const field of Object.keys(record)) {
        if (isEmpty(Reflect.get(record, field)) || known.has(field) || unseen.size >= mostFields) continue;
        unseen.set(field, (unseen.get(field) ?? 0) + 1);
      }
    },
    sawRows(rows) {
      if (unseen.size === 0) return;
      const records = rows.filter((row) => !(row instanceof InvalidResponseError));
      rowsSeen += records.length;
      for (const row of records) {
        for (const field of unseen.keys()) {
          if (isEmpty(Reflect.get(row, field))) continue;
          unseen.delete(field);
          known.add(field);
        }
        if (unseen.size === 0) return;
      }
    },
    lookedFor() {
      if (!areSuspicious()) return;
      looks += 1;
      if (looks < looksPerSuspicion) return;
      for (const field of unseen.keys()) known.add(field);
      unseen.clear();
      looks = 0;
      rowsSeen = 0;
    },
  };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined;
}
