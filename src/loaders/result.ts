import { isNotFound } from '../rest/errors.ts';

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
