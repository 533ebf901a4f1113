import { type BaseIssue, type GenericSchema, safeParse } from 'valibot';
import { wireSchemas } from './wire-schema.ts';

/** How a record differs from the wire schema. */
export type DriftKind = 'unknown value' | 'missing' | 'wrong type' | 'unknown field';

/** Holds a sample of REST's records against the wire schema, and reports what differs. Never throws. */
export interface DriftWatch {
  /**
   * `kind` is the name of the records' list. At most one of the rows is checked, each time another. `bearer` is the
   * access token they were read with; nothing of it is reported.
   */
  look(kind: string, rows: readonly unknown[], bearer: string): void;
}

export interface DriftWatchOptions {
  /**
   * Called for each difference with its coordinate, such as `Order.recipient.location`. A coordinate has no value, and
   * no name that the interface does not have: `Order.*`.
   */
  count(coordinate: string, kind: DriftKind): void;
  /** Called for each difference once in ten minutes. Its coordinates have unknown names that look like a field's: `Order.giftWrap`. */
  tell(coordinate: string, kind: DriftKind): void;
  /** The most records checked in a second, by default 20. */
  recordsPerSecond?: number;
  /** A clock in milliseconds; where it starts does not matter. */
  now?: () => number;
}

const msBetweenReports = 600_000;

// More than the interface has. REST may make up names without end: beyond these, all are told as `other`.
const maxCoordinates = 500;

const typeNames: Readonly<Record<keyof typeof wireSchemas, string>> = {
  orders: 'Order',
  shipments: 'Shipment',
  quotes: 'Quote',
  origins: 'Origin',
  locations: 'Location',
  organization: 'Organization',
  channels: 'Channel',
  messages: 'Message',
  templates: 'Template',
};

export function createDriftWatch({
  count,
  tell,
  recordsPerSecond = 20,
  now = () => performance.now(),
}: DriftWatchOptions): DriftWatch {
  const lastReports = new Map<string, number>();
  let checks = 0;
  let secondStart = now();
  let checksInSecond = 0;

  function mayCheck(): boolean {
    const time = now();
    if (time - secondStart >= 1_000) {
      secondStart = time;
      checksInSecond = 0;
    }
    checksInSecond += 1;
    return checksInSecond <= recordsPerSecond;
  }

  function reportSometimes(coordinate: string, kind: DriftKind): void {
    const isKnown = lastReports.has(`${coordinate} ${kind}`) || lastReports.size < maxCoordinates;
    const reported = isKnown ? coordinate : 'other';
    const lastReport = lastReports.get(`${reported} ${kind}`);
    if (lastReport !== undefined && now() - lastReport < msBetweenReports) return;
    lastReports.set(`${reported} ${kind}`, now());
    tell(reported, kind);
  }

  return {
    look(kind, rows, bearer) {
      if (rows.length === 0 || !isKind(kind) || !mayCheck()) return;
      checks += 1;
      const { issues = [] } = safeParse<GenericSchema>(wireSchemas[kind], rows[checks % rows.length]);
      for (const issue of issues) {
        const difference = differenceOf(issue);
        const names = namesOf(issue);
        const unknownName = difference === 'unknown field' ? names.pop() : undefined;
        const place = [typeNames[kind], ...names].join('.');
        count(unknownName === undefined ? place : `${place}.*`, difference);
        reportSometimes(
          unknownName === undefined ? place : `${place}.${loggableName(unknownName, bearer)}`,
          difference,
        );
      }
    },
  };
}

function isKind(kind: string): kind is keyof typeof wireSchemas {
  return Object.hasOwn(wireSchemas, kind);
}

/** The names of the fields that lead to it. The index of an item is no name. */
function namesOf({ path }: BaseIssue<unknown>): string[] {
  return (path ?? []).flatMap(({ key }) => (typeof key === 'string' ? [key] : []));
}

function differenceOf({ message, input, path }: BaseIssue<unknown>): DriftKind {
  if (message === 'unknown field' || message === 'unknown value') return message;
  const isField = path?.at(-1)?.type === 'object';
  return isField && (input === undefined || input === null) ? 'missing' : 'wrong type';
}

/** An unknown field's name, or `*` where it may be a secret or something that a person entered. */
function loggableName(name: string, bearer: string): string {
  const isOfBearer = bearer.includes(name) || name.includes(bearer);
  return /^[a-z][A-Za-z]{0,39}$/.test(name) && !isOfBearer ? name : '*';
}
