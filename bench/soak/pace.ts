/** What is asked for at a steady rate. */
export interface Pace {
  /** How many a second. */
  rate: number;
  total: number;
  /** How many are under way at most; beyond that the next ones wait. */
  concurrency: number;
}

const tickMs = 2;

/** Begins `total` tasks at the rate, and resolves once all have ended. Answers how long beginning them took, in milliseconds. */
export async function pace(
  { rate, total, concurrency }: Pace,
  begin: (index: number) => Promise<void>,
): Promise<number> {
  const startedAt = performance.now();
  let begun = 0;
  let underWay = 0;
  let tookMs = 0;
  await new Promise<void>((resolve, reject) => {
    function tick(): void {
      const due = Math.min(total, Math.ceil(((performance.now() - startedAt) / 1_000) * rate));
      while (begun < due && underWay < concurrency) {
        underWay += 1;
        begin(begun).then(ended, reject);
        begun += 1;
      }
      if (begun < total) setTimeout(tick, tickMs);
      else tookMs = performance.now() - startedAt;
    }
    function ended(): void {
      underWay -= 1;
      if (begun >= total && underWay === 0) resolve();
    }
    tick();
  });
  return tookMs;
}

/** Ends as many tasks one after the other in each of `concurrency` lanes as fit into the time. Answers how many a second. */
export async function asFastAsCan(
  seconds: number,
  concurrency: number,
  begin: (index: number) => Promise<void>,
): Promise<number> {
  const startedAt = performance.now();
  let begun = 0;
  const lane = async () => {
    while (performance.now() - startedAt < seconds * 1_000) {
      begun += 1;
      await begin(begun);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return begun / ((performance.now() - startedAt) / 1_000);
}
