/** Counts of what was asked for and how it ended. */
export interface Tally {
  count(kind: string, outcome: string): void;
  /** The outcomes by kind, of each the most frequent first. */
  rows(): Outcomes[];
}

/** What requests of one kind came to. */
export type Outcomes = [kind: string, total: number, outcomes: string];

/** How many requests there were of all kinds. */
export const totalOf = (rows: readonly Outcomes[]): number => rows.reduce((sum, [, total]) => sum + total, 0);

export function createTally(): Tally {
  const kinds = new Map<string, Map<string, number>>();
  const sum = (outcomes: Map<string, number>) => [...outcomes.values()].reduce((a, b) => a + b, 0);
  return {
    count(kind, outcome) {
      const outcomes = kinds.get(kind) ?? new Map<string, number>();
      kinds.set(kind, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
    },
    rows: () =>
      [...kinds].sort().map(([kind, outcomes]) => {
        const told = [...outcomes]
          .sort(([, a], [, b]) => b - a)
          .map(([outcome, times]) => `${times} ${outcome}`);
        return [kind, sum(outcomes), told.join(', ')];
      }),
  };
}

/** The time below which this part of them lies; all in milliseconds. */
export function percentile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** How much `y` grows for each 1 that `x` grows, by least squares. */
export function slopeOf(points: readonly { x: number; y: number }[]): number {
  const mean = (of: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  return mean(({ x, y }) => (x - meanX) * (y - meanY)) / mean(({ x }) => (x - meanX) ** 2);
}
