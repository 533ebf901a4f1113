/** What came of requests, good or hostile. */
export interface Outcomes {
  /** How often each outcome was seen, by kind of request. */
  byKind: Map<string, Map<string, number>>;
  /** Answers with HTTP 500 or INTERNAL_SERVER_ERROR. */
  internalErrors: number;
  /** Answers with a record of another tenant, or with any where nobody asked who may see one. */
  crossings: number;
  /** Some of these answers, to be looked at. */
  examples: string[];
}

export const noOutcomes = (): Outcomes => ({
  byKind: new Map(),
  internalErrors: 0,
  crossings: 0,
  examples: [],
});

export function count({ byKind }: Outcomes, kind: string, outcome: string): void {
  const outcomes = byKind.get(kind) ?? new Map<string, number>();
  byKind.set(kind, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
}

/** How often an outcome was seen that begins so. */
export function timesOf({ byKind }: Outcomes, start: string): number {
  const all = [...byKind.values()].flatMap((outcomes) => [...outcomes]);
  return all.reduce((sum, [outcome, times]) => (outcome.startsWith(start) ? sum + times : sum), 0);
}

/** A row of a table for each kind: its name, how often it was seen, and its outcomes, the most frequent first. */
export function rowsOf({ byKind }: Outcomes): [kind: string, total: number, outcomes: string][] {
  return [...byKind].sort().map(([kind, outcomes]) => {
    const sorted = [...outcomes].sort(([, a], [, b]) => b - a);
    const total = sorted.reduce((sum, [, times]) => sum + times, 0);
    return [kind, total, sorted.map(([outcome, times]) => `${times} ${outcome}`).join(', ')];
  });
}

// Request ids count on in letters and digits, so that one now and then looks like a mark. An error may name the id that was
// asked for; the record itself has a note with the mark too.
const noRecords = /x-request-id: \S+|"requestId":"[^"]*"|orders\/t\d+xor\d+ was/gi;

/**
 * Looks at an answer, head and body, for what must never be in it. Answers whether it holds anything of the tenant's.
 * @param tenant who asked; undefined where it is nobody whom REST knows.
 */
export function look(outcomes: Outcomes, answer: string, tenant: number | undefined): boolean {
  const marks = Array.from(answer.replaceAll(noRecords, '').matchAll(/\bt(\d+)x/g), ([, mark]) =>
    Number(mark),
  );
  const isInternal = statusOf(answer) === 500 || answer.includes('INTERNAL_SERVER_ERROR');
  const isCrossing = marks.some((mark) => mark !== tenant);
  if (isInternal) outcomes.internalErrors += 1;
  if (isCrossing) outcomes.crossings += 1;
  if ((isInternal || isCrossing) && outcomes.examples.length < 5)
    outcomes.examples.push(answer.slice(0, 1_000));
  return tenant !== undefined && marks.includes(tenant);
}

/** The codes of an answer's errors, each once, behind its status where that is not 200. */
export function outcomeOf(answer: string): string {
  const codes = new Set(Array.from(answer.matchAll(/"code":"([A-Z_]+)"/g), ([, code]) => code));
  const told = codes.size === 0 ? 'ok' : [...codes].sort().join('+');
  const status = statusOf(answer);
  return status === 200 ? told : `${status} ${told}`;
}

function statusOf(answer: string): number {
  return Number(answer.split(' ', 2)[1]);
}
