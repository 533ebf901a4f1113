import { percentile } from '../load.ts';
import { median } from '../markdown-table.ts';
import type { Statuses } from './attacker-process.ts';
import type { ProbeName, Waits } from './probes.ts';

/** The waits of a probe in milliseconds. */
export interface Spread {
  p50: number;
  p99: number;
  longest: number;
}

/** What was measured during an attack. NaN: the server has ended. */
export interface Figures {
  waits: Partial<Record<ProbeName, Spread>>;
  /** The samples without the right answer. */
  failed: number;
  longestHoldMs: number;
  peakMb: number;
  /** The responses to the attack. */
  statuses: Statuses;
}

/** The spread of waits, of at least one sample. */
export function spreadOf({ ms }: Waits): Spread {
  const sorted = ms.toSorted((a, b) => a - b);
  const [p50 = Number.NaN, p99 = Number.NaN, longest = Number.NaN] = [0.5, 0.99, 1].map((part) =>
    percentile(sorted, part),
  );
  return { p50, p99, longest };
}

/** The median of each figure over the rounds. Samples that failed and responses are counted in all rounds. */
export function medianFigures(rounds: readonly Figures[]): Figures {
  const medianOf = (figure: (figures: Figures) => number) => median(rounds.map(figure));
  const total = (figure: (figures: Figures) => number) =>
    rounds.reduce((sum, figures) => sum + figure(figures), 0);
  // Each round has the same probes, and the keys of an object literal are its names.
  const names = Object.keys(rounds[0]?.waits ?? {}) as ProbeName[];
  const spread = (name: ProbeName): Spread => {
    const of = (part: keyof Spread) => medianOf(({ waits }) => waits[name]?.[part] ?? Number.NaN);
    return { p50: of('p50'), p99: of('p99'), longest: of('longest') };
  };
  const statuses = new Set(rounds.flatMap((figures) => Object.keys(figures.statuses)));
  return {
    waits: Object.fromEntries(names.map((name) => [name, spread(name)])),
    failed: total(({ failed }) => failed),
    longestHoldMs: medianOf(({ longestHoldMs }) => longestHoldMs),
    peakMb: medianOf(({ peakMb }) => peakMb),
    statuses: Object.fromEntries(
      [...statuses].map((status) => [status, total((figures) => figures.statuses[status] ?? 0)]),
    ),
  };
}

interface Floor {
  /** The figure in milliseconds, megabytes or samples. Undefined: the attack does not measure it. */
  of(figures: Figures): number | undefined;
  /** The floor holds up to this figure. */
  most: number;
}

/** What the server is held to during each attack, by its name. */
const floors: Record<string, Floor> = {
  'live, kept open': { of: ({ waits }) => waits['live, kept open']?.longest, most: 1_000 },
  'live, new': { of: ({ waits }) => waits['live, new']?.longest, most: 1_000 },
  'small query, kept open': { of: ({ waits }) => waits['small query, kept open']?.p99, most: 1_000 },
  'small query, new': { of: ({ waits }) => waits['small query, new']?.p99, most: 2_000 },
  'page of 1,000': { of: ({ waits }) => waits['page of 1,000']?.longest, most: 2_000 },
  'new token': { of: ({ waits }) => waits['new token']?.longest, most: 1_000 },
  failed: { of: ({ failed }) => failed, most: 0 },
  'peak MB': { of: ({ peakMb }) => Math.floor(peakMb), most: 699 },
};

/** The names of the floors that do not hold. A figure that is missing because the server has ended does not hold. */
export function missedFloors(figures: Figures): string[] {
  return Object.entries(floors).flatMap(([name, { of, most }]) => {
    const figure = of(figures);
    return figure === undefined || figure <= most ? [] : [name];
  });
}
