import DataLoader from 'dataloader';
import { InvalidResponseError, isNotFound } from '../rest/errors.ts';

/** The result of loading one record: the record, null if there is no such record, or the error of the call. */
export type RecordResult<Json> = Json | null | Error;

/** Reads the records of all names in parallel. The results have the order of the names. Never rejects. */
export function settleAll<Json>(
  names: readonly string[],
  read: (name: string) => RecordResult<Json> | Promise<RecordResult<Json>>,
): Promise<RecordResult<Json>[]> {
  // One promise for the whole batch, because batches are large.
  return new Promise((resolve) => {
    // Made at its final size: a growing array reserves room for 17 (docs/design/how-it-stays-fast.md#objects).
    const results = new Array<RecordResult<Json>>(names.length).fill(null);
    let pending = names.length;
    if (pending === 0) resolve(results);
    names.forEach((name, index) => {
      const settle = (result: RecordResult<Json>) => {
        results[index] = result;
        pending -= 1;
        if (pending === 0) resolve(results);
      };
      const result = read(name);
      if (result instanceof Promise) result.then(settle, (error: unknown) => settle(nullOrError(error)));
      else settle(result);
    });
  });
}

function nullOrError(error: unknown): null | Error {
  if (isNotFound(error)) return null;
  return error instanceof Error ? error : new Error('a call failed', { cause: error });
}

type Named<Json> = Json & { name: string };

/**
 * A loader with one GET for each distinct name of the operation: REST has no batch endpoint ("Endpoints").
 * @example quoteById: ({ api, callContext }) => recordLoader((name) => api.getQuote(name, callContext))
 */
export function recordLoader<Json>(get: (name: string) => Promise<Json | null>): RecordLoader<Json> {
  return new RecordLoader((names) => settleAll(names, get));
}

/** Loads records by resource name. A record that does not exist is null. A failed call fails only its own name. */
export class RecordLoader<Json> {
  /** Changes when a record is replaced or forgotten. */
  generation = 0;
  readonly #promiseByName = new Map<string, Promise<Json | null>>();
  readonly #loader: DataLoader<string, Json | null>;
  /** Primed records. DataLoader would make a promise for each, and most primed records are never loaded. */
  #primed: Map<string, Json> | undefined;
  /** Primed rows not yet in `#primed`. The next load adds them. */
  #unreadRows: (readonly (Named<Json> | InvalidResponseError)[])[] | undefined;

  /** @param loadBatch loads the names of one tick, with one result for each name. */
  constructor(loadBatch: (names: readonly string[]) => Promise<RecordResult<Json>[]>) {
    this.#loader = new DataLoader<string, Json | null>(loadBatch, { cacheMap: this.#promiseByName });
  }

  load(name: string): Promise<Json | null> {
    return Promise.resolve<Json | null>(this.find(name));
  }

  /** Like `load`, but without a promise if the record is already known. */
  find(name: string): Json | Promise<Json | null> {
    // For a known name, DataLoader would make a second promise that waits for the rest of its batch.
    return this.peek(name) ?? this.#loader.load(name);
  }

  /** The record if it is known, or the promise if it is being read. Makes no call. */
  peek(name: string): Json | Promise<Json | null> | undefined {
    return this.#readPrimed()?.get(name) ?? this.#promiseByName.get(name);
  }

  /**
   * Adds records from other calls, so that they need no call. Records that are already known stay.
   * @param generation The generation when the call was sent. Rows of an earlier generation are outdated, and ignored.
   */
  prime(rows: readonly (Named<Json> | InvalidResponseError)[], generation: number): void {
    if (generation !== this.generation) return;
    this.#unreadRows ??= [];
    this.#unreadRows.push(rows);
  }

  replace(name: string, record: Json): void {
    this.clear(name);
    this.#primed ??= new Map();
    this.#primed.set(name, record);
  }

  /** Forgets a record, so that the next load reads it again. */
  clear(name: string): void {
    this.generation += 1;
    this.#readPrimed()?.delete(name);
    this.#promiseByName.delete(name);
  }

  clearAll(): void {
    this.generation += 1;
    this.#unreadRows = undefined;
    this.#primed = undefined;
    this.#promiseByName.clear();
  }

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
