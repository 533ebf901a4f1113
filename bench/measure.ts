import type { Upstream } from './upstream.ts';
import type { View } from './ways.ts';

/** What a view costs. */
export interface Cost {
  /** REST calls, of each run. */
  calls: number[];
  /** The median of all runs, in milliseconds. */
  ms: number;
}

export interface MeasureOptions {
  upstream: Upstream;
  latencyMs: number;
  /** How many runs count. Two more come before them. */
  runs: number;
}

const warmUps = 2;

/** Looks again and again. `prepare` makes ready for a run, without latency; `check` throws where an answer is not right. */
export async function measure(
  { upstream, latencyMs, runs }: MeasureOptions,
  prepare: () => Promise<View>,
  check: (answer: unknown) => void = () => {},
): Promise<Cost> {
  const calls: number[] = [];
  const times: number[] = [];
  for (let run = -warmUps; run < runs; run++) {
    await upstream.turnTo(0);
    const view = await prepare();
    await upstream.turnTo(latencyMs);
    const startedAt = performance.now();
    const answer = await view();
    const ms = performance.now() - startedAt;
    const made = await upstream.turnTo(0);
    check(answer);
    if (run < 0) continue;
    times.push(ms);
    calls.push(made.length);
  }
  return { calls, ms: median(times) };
}

/** Of two in the middle, the mean. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}
