import { type BaseIssue, type GenericSchema, safeParse } from 'valibot';
import { type ResourceKind, wireSchemas } from '../wire-schema.ts';

/** How a field of a record differs from the wire schema. */
export type Difference = 'unknown value' | 'invalid value' | 'missing' | 'wrong type' | 'unknown field';

export interface DriftWatchOptions {
  /**
   * Called for each difference with the field's coordinate, such as `Order.recipient.location`.
   * An unknown field has the coordinate `Order.*`, so that the number of coordinates is bounded.
   */
  onDifference(coordinate: string, difference: Difference): void;
  /** Called once in ten minutes per difference. A coordinate may have an unknown field name: `Order.giftWrap`. */
  onNewDifference(coordinate: string, difference: Difference): void;
  /** At most this many records are checked per second, by default 20. */
  recordsPerSecond?: number;
  /** A clock in milliseconds with any start. */
  now?: () => number;
}

const msBetweenReports = 600_000;

// More than the interface has. REST may send any number of unknown names. Names beyond the limit become `other`.
const maxCoordinates = 500;

export type DriftWatch = ReturnType<typeof createDriftWatch>;

/** A check of a sample of REST's records against the wire schema, which tells operators that REST has changed. */
export function createDriftWatch({
  onDifference,
  onNewDifference,
  recordsPerSecond = 20,
  now = () => performance.now(),
}: DriftWatchOptions) {
  const lastReports = new Map<string, number>();
  let checkedRecords = 0;
  let secondStart = now();
  let checksThisSecond = 0;

  function mayCheck(): boolean {
    const nowMs = now();
    if (nowMs - secondStart >= 1_000) {
      secondStart = nowMs;
      checksThisSecond = 0;
    }
    checksThisSecond += 1;
    return checksThisSecond <= recordsPerSecond;
  }

  function reportRateLimited(coordinate: string, difference: Difference): void {
    const isCounted = lastReports.has(`${coordinate} ${difference}`) || lastReports.size < maxCoordinates;
    const reported = isCounted ? coordinate : 'other';
    const lastReport = lastReports.get(`${reported} ${difference}`);
    if (lastReport !== undefined && now() - lastReport < msBetweenReports) return;
    lastReports.set(`${reported} ${difference}`, now());
    onNewDifference(reported, difference);
  }

  return {
    /**
     * Checks at most one of the rows, each time at another index. Never throws.
     * @param bearer the access token of the call. Names that overlap with the token are never reported.
     */
    check(kind: ResourceKind, rows: readonly unknown[], bearer: string): void {
      if (rows.length === 0 || !mayCheck()) return;
      checkedRecords += 1;
      const row = rows[checkedRecords % rows.length];
      for (const { coordinate, difference } of findDifferences(kind, row, bearer)) {
        const isUnknown = difference === 'unknown field';
        onDifference(isUnknown ? coordinate.replace(/[^.]+$/, '*') : coordinate, difference);
        reportRateLimited(coordinate, difference);
      }
    },
  };
}

/**
 * Compares a record with the wire schema. `bearer`: see `check`.
 * @returns the coordinates, such as `Order.recipient.location`. An unknown name that may be private is `*`. An unknown
 * `value` is there if it has the form of a constant, and an invalid one if it has the form of a time or a number.
 */
export function findDifferences(kind: ResourceKind, record: unknown, bearer: string) {
  const { issues = [] } = safeParse<GenericSchema>(wireSchemas[kind], record);
  return issues.map((issue) => {
    const difference = toDifference(issue);
    // Without the indexes of lists.
    const names = (issue.path ?? []).flatMap(({ key }) => (typeof key === 'string' ? [key] : []));
    if (difference === 'unknown field') names.push(loggableName(names.pop() ?? '*', bearer));
    const value = isPublic(difference, String(issue.input)) ? String(issue.input) : undefined;
    return { coordinate: [typeName(kind), ...names].join('.'), difference, value };
  });
}

/** `Order` for `orders`. */
function typeName(kind: ResourceKind): string {
  return kind.charAt(0).toUpperCase() + kind.slice(1).replace(/s$/, '');
}

function toDifference({ message, input, path }: BaseIssue<unknown>): Difference {
  if (message === 'unknown field' || message === 'unknown value' || message === 'invalid value')
    return message;
  const isFieldOfObject = path?.at(-1)?.type === 'object';
  return isFieldOfObject && (input === undefined || input === null) ? 'missing' : 'wrong type';
}

function isPublic(difference: Difference, value: string): boolean {
  if (difference === 'unknown value') return /^[A-Z][A-Z_]{0,39}$/.test(value);
  return difference === 'invalid value' && /^[\dTWZtz:.,+\- ]{1,40}$/.test(value);
}

/** The name of an unknown field, or `*` if the name may be a secret or text that a person entered. */
function loggableName(name: string, bearer: string): string {
  const overlapsBearer = bearer.includes(name) || name.includes(bearer);
  return /^[a-z][A-Za-z]{0,39}$/.test(name) && !overlapsBearer ? name : '*';
}
