import DataLoader from 'dataloader';
import { InvalidResponseError, isNotFound } from '../rest/errors.ts';

/** The result of loading one record: the record, null if there is no such record, or the error of the call. */
export type RecordResult<Json> = Json | null | Error;

/** Reads the records of all names in parallel. The results have the order of the names. Never rejects. */
export function settleAll<Json>(
  names: readonly string[],
  read: (name: string) => Promise<RecordResult<Json>>,
): Promise<RecordResult<Json>[]> {
  // One promise for the whole batch, because batches are large.
  return new Promise((resolve) => {
    // Made at its final size: a growing array reserves room for 17 (docs/decisions/0004-long-lived-closures.md).
    const results = new Array<RecordResult<Json>>(names.length).fill(null);
    let pending = names.length;
    if (pending === 0) resolve(results);
    names.forEach((name, index) => {
      const settle = (result: RecordResult<Json>) => {
        results[index] = result;
        pending -= 1;
        if (pending === 0) resolve(results);
      };
      read(name).then(settle, (error: unknown) => settle(nullOrError(error)));
    });
  });
}

/** Maps the error of a failed call: null if REST has no such record, otherwise the error. */
function nullOrError(error: unknown): null | Error {
  if (isNotFound(error)) return null;
  return error instanceof Error
    ? error
    : new Error('a call failed with something that is no error', { cause: error });
}

/** Loads records by resource name. A record that does not exist is null. A failed call fails only its own name. */
export interface RecordLoader<Json> {
  load(name: string): Promise<Json | null>;
  /** Like `load`, but without a promise if the record is already known. */
  find(name: string): Json | Promise<Json | null>;
  /** Adds records from other calls, so that they need no call. Records that are already known stay. */
  prime(rows: readonly (Named<Json> | InvalidResponseError)[]): void;
  /** Replaces the known record. */
  replace(name: string, record: Json): void;
  /** Forgets a record, so that the next load reads it again. */
  clear(name: string): void;
  /** Forgets all records. */
  clearAll(): void;
}

type Named<Json> = Json & { name: string };

/**
 * Creates a loader over a GET endpoint: one call per distinct name of the operation. All names of one tick are
 * requested at once. REST has no batch endpoint ("Endpoints"), so a batch of N names is N calls.
 */
export function recordLoader<Json>(get: (name: string) => Promise<Json | null>): RecordLoader<Json> {
  return batchLoader((names) => settleAll(names, get));
}

/**
 * Creates a loader over a whole list, for records without a GET endpoint ("Endpoints"). Each operation reads the
 * list once.
 * @param bypassCache Stops the use of cached pages, and returns whether any were used. Called if a name is missing.
 * After true, the list is read once more.
 */
export function wholeListLoader<Json extends { name: string }>(
  list: () => Promise<Json[]>,
  bypassCache = () => false,
): RecordLoader<Json> {
  return new WholeListLoader(list, bypassCache);
}

/**
 * Creates a loader over a function that loads a batch of names. Each result is a record, null or an
 * error, for one name each.
 */
export function batchLoader<Json>(loadBatch: LoadBatch<Json>): RecordLoader<Json> {
  return new BatchLoader(loadBatch);
}

type LoadBatch<Json> = (names: readonly string[]) => Promise<RecordResult<Json>[]>;

/** The loader of `batchLoader`, for loaders that do more. */
export class BatchLoader<Json> implements RecordLoader<Json> {
  readonly #promiseByName = new Map<string, Promise<Json | null>>();
  readonly #loader: DataLoader<string, Json | null>;
  /** Primed records. DataLoader would make a promise for each, and most primed records are never loaded. */
  #primed: Map<string, Json> | undefined;
  /** Primed rows not yet in `#primed`. The next load adds them. */
  #unreadRows: (readonly (Named<Json> | InvalidResponseError)[])[] | undefined;

  constructor(loadBatch: LoadBatch<Json>) {
    this.#loader = new DataLoader<string, Json | null>(loadBatch, {
      cacheMap: this.#promiseByName,
    });
  }

  load(name: string): Promise<Json | null> {
    const found = this.find(name);
    return found instanceof Promise ? found : Promise.resolve(found);
  }

  find(name: string): Json | Promise<Json | null> {
    const record = this.#readPrimed()?.get(name);
    if (record !== undefined) return record;
    // For a known name, DataLoader would make a second promise that waits for the rest of its batch.
    return this.#promiseByName.get(name) ?? this.#loader.load(name);
  }

  prime(rows: readonly (Named<Json> | InvalidResponseError)[]): void {
    this.#unreadRows ??= [];
    this.#unreadRows.push(rows);
  }

  replace(name: string, record: Json): void {
    const primed = this.#readPrimed() ?? new Map<string, Json>();
    this.#primed = primed.set(name, record);
    this.#promiseByName.delete(name);
  }

  clear(name: string): void {
    this.#readPrimed()?.delete(name);
    this.#promiseByName.delete(name);
  }

  clearAll(): void {
    this.#unreadRows = undefined;
    this.#primed = undefined;
    this.#promiseByName.clear();
  }

  /** Adds the unread rows to `#primed`, and returns `#primed`. */
  #readPrimed(): Map<string, Json> | undefined {
    if (this.#unreadRows === undefined) return this.#primed;
    this.#primed ??= new Map();
    for (const rows of this.#unreadRows) {
      for (const row of rows) {
        if (row instanceof InvalidResponseError || this.#promiseByName.has(row.name)) continue;
        if (!this.#primed.has(row.name)) this.#primed.set(row.name, row);
      }
    }
    this.#unreadRows = undefined;
    return this.#primed;
  }
}

class WholeListLoader<Json extends { name: string }> extends BatchLoader<Json> {
  #index: Promise<Map<string, Json>> | undefined;

  constructor(list: () => Promise<Json[]>, bypassCache: () => boolean) {
    const read = async () => new Map((await list()).map((row) => [row.name, row]));
    super(async (names) => {
      this.#index ??= read();
      let index = await this.#index;
      if (names.some((name) => !index.has(name)) && bypassCache()) {
        this.#index = read();
        index = await this.#index;
      }
      return names.map((name) => index.get(name) ?? null);
    });
  }

  override clearAll(): void {
    this.#index = undefined;
    super.clearAll();
  }
}
