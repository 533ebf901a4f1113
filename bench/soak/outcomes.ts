/** The outcomes of requests, good or hostile. */
export interface Outcomes {
  /** The number of each outcome, by kind of request. */
  byKind: Map<string, Map<string, number>>;
  /** The number of responses with HTTP 500 or INTERNAL_SERVER_ERROR. */
  internalErrors: number;
  /** The number of responses with a record of another tenant, or with any record for an unknown token. */
  crossings: number;
  /** A few of these responses, for people to read. */
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

/** The number of outcomes that start with this text. */
export function timesOf({ byKind }: Outcomes, start: string): number {
  const all = [...byKind.values()].flatMap((outcomes) => [...outcomes]);
  return all.reduce((sum, [outcome, times]) => (outcome.startsWith(start) ? sum + times : sum), 0);
}

/** A table row for each kind: its name, its number of requests, and its outcomes, the most frequent first. */
export function rowsOf({ byKind }: Outcomes): [kind: string, total: number, outcomes: string][] {
  return [...byKind].sort().map(([kind, outcomes]) => {
    const sorted = [...outcomes].sort(([, a], [, b]) => b - a);
    const total = sorted.reduce((sum, [, times]) => sum + times, 0);
    return [kind, total, sorted.map(([outcome, times]) => `${times} ${outcome}`).join(', ')];
  });
}

// These parts of a response are no records. A request id has letters and digits, and can look like a mark. An error
// can name the requested id. A record would have a note with the mark too.
const noRecords = /x-request-id: \S+|"requestId":"[^"]*"|orders\/t\d+xor\d+ was/gi;

/**
 * Searches a response, head and body, for internal errors and records of other tenants, and counts them.
 * @param tenant the tenant of the request; undefined if REST does not know its token.
 * @returns whether the response has a record of the tenant.
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

/** The error codes of a response, each once. If its status is not 200, the status comes first. */
export function outcomeOf(answer: string): string {
  const codes = new Set(Array.from(answer.matchAll(/"code":"([A-Z_]+)"/g), ([, code]) => code));
  const text = codes.size === 0 ? 'ok' : [...codes].sort().join('+');
  const status = statusOf(answer);
  return status === 200 ? text : `${status} ${text}`;
}

function statusOf(answer: string): number {
  return Number(answer.split(' ', 2)[1]);
}
