import { isNotFound } from '../rest/errors.ts';

/** The record that a call has brought; null where there is none; or the call's error. */
export type RecordResult<Json> = Json | null | Error;

/** Asks for each name, and waits for all. In the order of the names. */
export function settleAll<Json>(
  names: readonly string[],
  read: (name: string) => Promise<RecordResult<Json>>,
): Promise<RecordResult<Json>[]> {
  // One promise for all, as batches are large.
  return new Promise((resolve) => {
    // As long as it is to be: an array that grows takes room for 17.
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

/** What a failed call tells of its record: that there is none, or the error. */
function nullOrError(error: unknown): null | Error {
  if (isNotFound(error)) return null;
  return error instanceof Error
    ? error
    : new Error('a call failed with something that is no error', { cause: error });
}
