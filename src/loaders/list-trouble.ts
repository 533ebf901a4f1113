/** Whether a list is to be left alone for a while, as it has not answered lately; of one tenant and resource. */
export interface ListTrouble {
  isLeftAlone(): boolean;
  /** A page has come. */
  answered(): void;
  /** A page has failed, was late or refused: one may, but after the second in a row the list is left alone. */
  failed(): void;
}

const firstMs = 1_000;
const longestMs = 60_000;

/** `now` counts milliseconds, from whenever. */
export function createListTrouble(now: () => number): ListTrouble {
  let failures = 0;
  let leftAloneUntil = 0;
  return {
    isLeftAlone: () => failures > 1 && now() < leftAloneUntil,
    answered() {
      failures = 0;
    },
    failed() {
      failures += 1;
      leftAloneUntil = now() + Math.min(firstMs * 2 ** (failures - 2), longestMs);
    },
  };
}
