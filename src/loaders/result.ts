import { isNotFound } from '../rest/errors.ts';

/** The record that a call has brought; null where there is none; or the call's error. */
export type Settled<Json> = Json | null | Error;

/** Asks for each name, and waits for all. In the order of the names. */
export function settledAll<Json>(
  names: readonly string[],
  ask: (name: string) => Promise<Settled<Json>>,
): Promise<Settled<Json>[]> {
  // One promise for all, as batches are large.
  return new Promise((resolve) => {
    // As long as it is to be: an array that grows takes room for 17.
    const answers = new Array<Settled<Json>>(names.length).fill(null);
    let missing = names.length;
    if (missing === 0) resolve(answers);
    names.forEach((name, index) => {
      const arrive = (answer: Settled<Json>) => {
        answers[index] = answer;
        missing -= 1;
        if (missing === 0) resolve(answers);
      };
      ask(name).then(arrive, (error: unknown) => arrive(nullOrError(error)));
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
