/** For how long somebody waits for a piece of work that several may wait for. */
export interface Lifetime {
  /** Aborted once all who waited have given up. */
  readonly signal: AbortSignal;
  /**
   * Someone waits for the work until their signal says that they have given up. What is answered lets go of that signal,
   * which may outlive the work by far.
   */
  join(waiting: AbortSignal): () => void;
  /** The work is done: what is still under way for it is wanted by nobody. */
  end(): void;
}

const done = new Error('what it was wanted for is done');

export function createLifetime(): Lifetime {
  const controller = new AbortController();
  let waitingNow = 0;
  return {
    signal: controller.signal,
    join(waiting) {
      waitingNow += 1;
      const giveUp = () => {
        waitingNow -= 1;
        if (waitingNow === 0) controller.abort(waiting.reason);
      };
      if (waiting.aborted) giveUp();
      else waiting.addEventListener('abort', giveUp, { once: true });
      return () => waiting.removeEventListener('abort', giveUp);
    },
    end: () => controller.abort(done),
  };
}
