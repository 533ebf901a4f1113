import DataLoader from 'dataloader';
import { isNotFound } from '../rest/errors.ts';

/** Records by resource name. A record that does not exist is null; a failed call fails its own key only. */
export type RecordLoader<Json> = DataLoader<string, Json | null>;

/**
 * A loader over a get endpoint: one call per distinct name of the operation, all in the same tick's batch at once.
 * The interface has no batch endpoint, so a batch of N is N calls.
 */
export function recordLoader<Json>(get: (name: string) => Promise<Json | null>): RecordLoader<Json> {
  return new DataLoader((names) => Promise.all(names.map((name) => nullOrError(get(name)))));
}

/** A loader over a whole list, for resources that have no get endpoint: one walk through the list per operation. */
export function listedRecordLoader<Json extends { name: string }>(
  list: () => Promise<Json[]>,
): RecordLoader<Json> {
  let index: Promise<Map<string, Json>> | undefined;
  return new DataLoader(async (names) => {
    index ??= list().then((rows) => new Map(rows.map((row) => [row.name, row])));
    const byName = await index;
    return names.map((name) => byName.get(name) ?? null);
  });
}

function nullOrError<Json>(record: Promise<Json | null>): Promise<Json | null | Error> {
  return record.catch((error: unknown) => {
    if (isNotFound(error)) return null;
    return error instanceof Error
      ? error
      : new Error('a call failed with something that is no error', { cause: error });
  });
}
