/** What the whole run looks for in every answer, good or not. */
export interface Watch {
  /** Answers with HTTP 500 or INTERNAL_SERVER_ERROR. */
  internalErrors: number;
  /** Answers with a record of another tenant, or with any where nobody asked who may see one. */
  crossings: number;
  /** Some of these answers, to be looked at. */
  examples: string[];
}

export const createWatch = (): Watch => ({ internalErrors: 0, crossings: 0, examples: [] });

/** What was seen in two places. */
export const sumOf = (one: Watch, other: Watch): Watch => ({
  internalErrors: one.internalErrors + other.internalErrors,
  crossings: one.crossings + other.crossings,
  examples: [...one.examples, ...other.examples],
});

const marks = /\bt(\d+)x/g;

// These count on in letters and digits, so that one now and then looks like a mark.
const requestIds = /x-request-id: \S+|"requestId":"[^"]*"/gi;

/**
 * Looks at an answer for what must never be in it. Answers whether it holds anything of the tenant's.
 * @param tenant who asked; undefined where it is nobody whom REST knows.
 */
export function look(watch: Watch, status: number, text: string, tenant: number | undefined): boolean {
  if (status === 500 || text.includes('INTERNAL_SERVER_ERROR')) {
    watch.internalErrors += 1;
    keep(watch, text);
  }
  if (hasForeignMark(text, tenant) && hasForeignMark(text.replaceAll(requestIds, ''), tenant)) {
    watch.crossings += 1;
    keep(watch, text);
  }
  return tenant !== undefined && marksIn(text).includes(tenant);
}

function hasForeignMark(text: string, tenant: number | undefined): boolean {
  return marksIn(text).some((mark) => mark !== tenant);
}

function marksIn(text: string): number[] {
  return Array.from(text.matchAll(marks), ([, mark]) => Number(mark));
}

function keep({ examples }: Watch, text: string): void {
  if (examples.length < 5) examples.push(text.slice(0, 500));
}

/** The codes of an answer's errors, each once, or its status. */
export function outcomeOf(status: number, text: string): string {
  const codes = new Set([...text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code]) => code));
  const told = codes.size === 0 ? 'ok' : [...codes].sort().join('+');
  return status === 200 ? told : `${status} ${told}`;
}
