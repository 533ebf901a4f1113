import type { Askers } from './askers.ts';
import { nullOrError } from './record-loader.ts';

/** The gets of one batch: each name is asked for at most once, however often its record is wanted. */
export interface Gets<Json> {
  all(names: readonly string[]): Promise<Map<string, Json | null | Error>>;
  /** How many have been made so far. */
  count(): number;
}

/** `onAnswered` hears how many gets were answered, all at once, and in how many milliseconds. */
export function createGets<Json>(
  get: (name: string) => Promise<Json>,
  { onBehalf }: Askers,
  onAnswered: (count: number, ms: number) => void,
): Gets<Json> {
  const begun = new Map<string, Promise<Json | null | Error>>();

  function begin(name: string): Promise<Json | null | Error> {
    const answer = nullOrError<Json>(onBehalf([name], () => get(name)));
    begun.set(name, answer);
    return answer;
  }

  return {
    count: () => begun.size,
    async all(names) {
      const startedAt = performance.now();
      const areNew = names.every((name) => !begun.has(name));
      const answers = await Promise.all(names.map((name) => begun.get(name) ?? begin(name)));
      // A call that has failed says nothing about how long one takes.
      if (areNew && !answers.some((answer) => answer instanceof Error)) {
        onAnswered(names.length, performance.now() - startedAt);
      }
      return new Map(names.map((name, index) => [name, answers[index] ?? null]));
    },
  };
}
