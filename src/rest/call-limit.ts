/**
 * Lets so many calls through at a time, the others in the order in which they came, as places become free. One that throws
 * is a rejection.
 */
export function createCallLimit(maxAtOnce: number): <Answer>(make: () => Promise<Answer>) => Promise<Answer> {
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

  return (make) => {
    if (underWay >= maxAtOnce) {
      return new Promise<void>((resolve) => {
        waiting.push(resolve);
      }).then(() => begin(make));
    }
    underWay += 1;
    return begin(make);
  };
}
