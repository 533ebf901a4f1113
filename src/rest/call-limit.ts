/** Lets so many calls through at a time, the others in the order in which they came, as places become free. */
export interface CallLimit {
  /** `make` never throws. */
  run<Answer>(make: () => Promise<Answer>): Promise<Answer>;
  /** Whether a call would be let through at once. */
  hasPlace(): boolean;
}

export function createCallLimit(maxAtOnce: number): CallLimit {
  const waiting: (() => void)[] = [];
  let underWay = 0;

  function release(): void {
    const start = waiting.shift();
    // Otherwise it hands its place on.
    if (start === undefined) underWay -= 1;
    else start();
  }

  function begin<Answer>(make: () => Promise<Answer>): Promise<Answer> {
    const answer = make();
    answer.then(release, release);
    return answer;
  }

  return {
    run(make) {
      if (underWay >= maxAtOnce) {
        return new Promise<void>((resolve) => {
          waiting.push(resolve);
        }).then(() => begin(make));
      }
      underWay += 1;
      return begin(make);
    },
    hasPlace: () => underWay < maxAtOnce,
  };
}
