/** The mutations that are being run, also those whose clients have gone: a write is finished once it is begun. */
export interface RunningMutations {
  /** Counts a mutation until it has ended, in whatever way. */
  track<Result>(mutation: Promise<Result>): Promise<Result>;
  /** Resolves when none is under way any more, or after so many milliseconds. */
  ended(withinMs: number): Promise<void>;
}

export function createRunningMutations(): RunningMutations {
  let count = 0;
  let onIdle: (() => void) | undefined;

  function onSettled(): void {
    count -= 1;
    if (count === 0) onIdle?.();
  }

  return {
    track(mutation) {
      count += 1;
      mutation.then(onSettled, onSettled);
      return mutation;
    },
    async ended(withinMs) {
      if (count === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(withinMs, 0));
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
