/** The mutations that are being run, also those whose clients have gone: a write is finished once it is begun. */
export interface RunningMutations {
  /** Counts a mutation until it has ended, in whatever way. */
  follow<Result>(running: Promise<Result>): Promise<Result>;
  /** Resolves when none is under way any more, or after so many milliseconds. */
  ended(withinMs: number): Promise<void>;
}

export function createRunningMutations(): RunningMutations {
  let count = 0;
  let onNone: (() => void) | undefined;

  function leave(): void {
    count -= 1;
    if (count === 0) onNone?.();
  }

  return {
    follow(running) {
      count += 1;
      running.then(leave, leave);
      return running;
    },
    async ended(withinMs) {
      if (count === 0) return;
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, Math.max(withinMs, 0));
        onNone = () => {
          clearTimeout(late);
          resolve();
        };
      });
    },
  };
}
