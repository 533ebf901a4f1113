import DataLoader from 'dataloader';
import { isNotFound } from '../rest/errors.ts';
import { type Askers, createAskers } from './askers.ts';

/** Records by resource name. A record that does not exist is null; a failed call fails its own key only. */
export interface RecordLoader<Json> {
  load(name: string): Promise<Json | null>;
  /** Hands over a record that has come in another way, where none is known, so that it is not asked for. */
  prime(name: string, record: Json): void;
  /** Puts a record in the place of what is known. */
  replace(name: string, record: Json): void;
  /** Forgets a record, so that it is asked for anew. */
  clear(name: string): void;
  clearAll(): void;
}

/**
 * A loader over a get endpoint: one call per distinct name of the operation, all in the same tick's batch at once.
 * The interface has no batch endpoint, so a batch of N is N calls.
 */
export function recordLoader<Json>(get: (name: string) => Promise<Json | null>): RecordLoader<Json> {
  return batchLoader((names, { onBehalf }) =>
    Promise.all(names.map((name) => nullOrError(onBehalf([name], () => get(name))))),
  );
}

// What all who ask for a name of a whole list have asked for.
const wholeList = 'all';

/**
 * A loader over a whole list, for resources that have no get endpoint: one walk through the list per operation. Where it
 * lacks a name and `forgetEarlier` says that an earlier operation has read some of it, it is walked through once more.
 */
export function listedRecordLoader<Json extends { name: string }>(
  list: () => Promise<Json[]>,
  forgetEarlier = () => false,
): RecordLoader<Json> {
  let index: Promise<Map<string, Json>> | undefined;
  const loader = batchLoader<Json>(
    async (names, { onBehalf }) => {
      const read = () =>
        onBehalf([wholeList], list).then((rows) => new Map(rows.map((row) => [row.name, row])));
      index ??= read();
      let byName = await index;
      if (names.some((name) => !byName.has(name)) && forgetEarlier()) {
        index = read();
        byName = await index;
      }
      return names.map((name) => byName.get(name) ?? null);
    },
    () => wholeList,
  );
  return {
    ...loader,
    clearAll() {
      index = undefined;
      loader.clearAll();
    },
  };
}

/**
 * A loader that answers a batch of names, each with its record, null, or the error that is its own. `askedFor` says as
 * what the askers of a name are remembered, where that is not the name.
 */
export function batchLoader<Json>(
  answer: (names: readonly string[], askers: Askers) => Promise<(Json | null | Error)[]>,
  askedFor: (name: string) => string = (name) => name,
): RecordLoader<Json> {
  const askers = createAskers();
  const asked = new Map<string, Promise<Json | null>>();
  const loader = new DataLoader<string, Json | null>((names) => answer(names, askers), { cacheMap: asked });
  // Beside the loader, which would make a promise of each: most of what comes along is never asked for.
  const primed = new Map<string, Json>();

  function forget(name: string): void {
    primed.delete(name);
    asked.delete(name);
  }

  return {
    load(name) {
      askers.note(askedFor(name));
      const record = primed.get(name);
      return record === undefined ? loader.load(name) : Promise.resolve(record);
    },
    prime(name, record) {
      if (!asked.has(name) && !primed.has(name)) primed.set(name, record);
    },
    replace(name, record) {
      forget(name);
      primed.set(name, record);
    },
    clear(name) {
      askers.forget(askedFor(name));
      forget(name);
    },
    clearAll() {
      askers.forget();
      primed.clear();
      asked.clear();
    },
  };
}

export function nullOrError<Json>(record: Promise<Json | null>): Promise<Json | null | Error> {
  return record.catch((error: unknown) => {
    if (isNotFound(error)) return null;
    return error instanceof Error
      ? error
      : new Error('a call failed with something that is no error', { cause: error });
  });
}
