import DataLoader from 'dataloader';
import { InvalidResponseError } from '../rest/errors.ts';
import { createFieldPathLog, type FieldPathLog } from './field-path-log.ts';
import type { RecordResult } from './result.ts';
import { settleAll } from './result.ts';

/** Records by resource name. A record that does not exist is null; a failed call fails its own key only. */
export interface RecordLoader<Json> {
  load(name: string): Promise<Json | null>;
  /** The same, without a promise where the record is at hand. */
  find(name: string): Json | Promise<Json | null>;
  /** Hands over records that have come in another way, so that they are not asked for. What is known already stays. */
  prime(rows: readonly (Named<Json> | InvalidResponseError)[]): void;
  /** Puts a record in the place of what is known. */
  replace(name: string, record: Json): void;
  /** Forgets a record, so that it is asked for anew. */
  clear(name: string): void;
  clearAll(): void;
}

type Named<Json> = Json & { name: string };

/**
 * A loader over a get endpoint: one call per distinct name of the operation, all in the same tick's batch at once.
 * The interface has no batch endpoint, so a batch of N is N calls.
 */
export function recordLoader<Json>(get: (name: string) => Promise<Json | null>): RecordLoader<Json> {
  return batchLoader((names, fieldPaths) => settleAll(names, (name) => fieldPaths.runForKey(name, get)));
}

// What all who ask for a name of a whole list have asked for.
const wholeListKey = 'all';

/**
 * A loader over a whole list, for resources that have no get endpoint: one walk through the list per operation. Where it
 * lacks a name and `forgetEarlier` says that an earlier operation has read some of it, it is walked through once more.
 */
export function listedRecordLoader<Json extends { name: string }>(
  list: () => Promise<Json[]>,
  bypassCache = () => false,
): RecordLoader<Json> {
  return new WholeListLoader(list, bypassCache);
}

/**
 * A loader that answers a batch of names, each with its record, null, or the error that is its own. `askedFor` says as
 * what the askers of a name are remembered, where that is not the name.
 */
export function batchLoader<Json>(loadBatch: LoadBatch<Json>, pathKey?: string): RecordLoader<Json> {
  return new BatchLoader(loadBatch, pathKey);
}

type LoadBatch<Json> = (names: readonly string[], fieldPaths: FieldPathLog) => Promise<RecordResult<Json>[]>;

class BatchLoader<Json> implements RecordLoader<Json> {
  readonly #fieldPaths = createFieldPathLog();
  /** The name under which askers are remembered, where it is the same for all. */
  readonly #pathKey: string | undefined;
  readonly #promiseByName = new Map<string, Promise<Json | null>>();
  readonly #loader: DataLoader<string, Json | null>;
  /** Beside the loader, which would make a promise of each: most of what comes along is never asked for. */
  #primed: Map<string, Json> | undefined;
  /** What has come along and was not looked at yet, as nothing has been asked for since. */
  #unreadRows: (readonly (Named<Json> | InvalidResponseError)[])[] | undefined;

  constructor(loadBatch: LoadBatch<Json>, pathKey: string | undefined) {
    this.#pathKey = pathKey;
    this.#loader = new DataLoader<string, Json | null>((names) => loadBatch(names, this.#fieldPaths), {
      cacheMap: this.#promiseByName,
    });
  }

  load(name: string): Promise<Json | null> {
    const found = this.find(name);
    return found instanceof Promise ? found : Promise.resolve(found);
  }

  find(name: string): Json | Promise<Json | null> {
    this.#fieldPaths.note(this.#pathKey ?? name);
    const record = this.#readPrimed()?.get(name);
    if (record !== undefined) return record;
    // DataLoader would make another promise, which waits for those that are asked for at the same time.
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
    this.#fieldPaths.forget(this.#pathKey ?? name);
    this.#readPrimed()?.delete(name);
    this.#promiseByName.delete(name);
  }

  clearAll(): void {
    this.#fieldPaths.forget();
    this.#unreadRows = undefined;
    this.#primed = undefined;
    this.#promiseByName.clear();
  }

  /** What has come along. */
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
    super(async (names, fieldPaths) => {
      this.#index ??= fieldPaths.runForKeys([wholeListKey], read);
      let index = await this.#index;
      if (names.some((name) => !index.has(name)) && bypassCache()) {
        this.#index = fieldPaths.runForKeys([wholeListKey], read);
        index = await this.#index;
      }
      return names.map((name) => index.get(name) ?? null);
    }, wholeListKey);
  }

  override clearAll(): void {
    this.#index = undefined;
    super.clearAll();
  }
}
