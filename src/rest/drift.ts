import type { Field, Shape } from './shape.ts';
import { shapes } from './shapes.ts';

/** How an answer of REST differs from its interface. */
export type DriftKind = 'unknown value' | 'missing' | 'wrong type' | 'unknown field';

/** Looks at a sample of what REST answers, and tells where it is not as its interface says. Never throws. */
export interface DriftWatch {
  /**
   * `kind` is the name of the records' list. One of the rows is looked at, each time another. `bearer` is whose they are, of
   * which nothing is told.
   */
  look(kind: string, rows: readonly unknown[], bearer: string): void;
}

export interface DriftWatchOptions {
  /**
   * Is told of each one seen, by its place: `Order.recipient.location`. Never of a value, nor of a name that the interface
   * does not have: `Order.*`.
   */
  count(coordinate: string, kind: DriftKind): void;
  /** Is told of the same ones, but of each once in ten minutes only, and of names that look like a field's: `Order.giftWrap`. */
  tell(coordinate: string, kind: DriftKind): void;
  /** How many records are looked at each second at most; 20 when left out. */
  recordsPerSecond?: number;
  /** Counts milliseconds, from whenever. */
  now?: () => number;
}

const msBetweenWords = 600_000;

// More than the interface has; what comes beyond it is one place, `other`, as REST may make up names without end.
const maxPlaces = 500;

const typeNames: Readonly<Record<string, string>> = {
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

const shapeByKind: Readonly<Record<string, Shape>> = shapes;

export function createDriftWatch({
  count,
  tell,
  recordsPerSecond = 20,
  now = () => performance.now(),
}: DriftWatchOptions): DriftWatch {
  const toldAt = new Map<string, number>();
  let seen = 0;
  let secondStart = now();
  let lookedAtInSecond = 0;

  function mayLook(): boolean {
    const time = now();
    if (time - secondStart >= 1_000) {
      secondStart = time;
      lookedAtInSecond = 0;
    }
    lookedAtInSecond += 1;
    return lookedAtInSecond <= recordsPerSecond;
  }

  /** `toTell` is the place for the log, where that has a name that is REST's own. */
  function found(place: string, kind: DriftKind, toTell = place): void {
    count(place, kind);
    const known = toldAt.has(`${toTell} ${kind}`) || toldAt.size < maxPlaces;
    const coordinate = known ? toTell : 'other';
    const key = `${coordinate} ${kind}`;
    const before = toldAt.get(key);
    if (before !== undefined && now() - before < msBetweenWords) return;
    toldAt.set(key, now());
    tell(coordinate, kind);
  }

  function lookAtField(field: Field, value: unknown, place: string, bearer: string): void {
    const { type, values, fields, items } = field;
    if (typeOf(value) !== type) found(place, 'wrong type');
    else if (values !== undefined && !values.has(String(value))) found(place, 'unknown value');
    else if (fields !== undefined) lookAtObject(fields, recordOf(value), place, bearer);
    // One of them, as of the rows of a page.
    else if (items !== undefined && Array.isArray(value) && value.length > 0) {
      lookAtField(items, value[seen % value.length], place, bearer);
    }
  }

  function lookAtObject(
    shape: Shape,
    object: Readonly<Record<string, unknown>>,
    place: string,
    bearer: string,
  ): void {
    for (const [name, field] of Object.entries(shape)) {
      const value = object[name];
      if (value !== undefined && value !== null) lookAtField(field, value, `${place}.${name}`, bearer);
      else if (field.isRequired) found(`${place}.${name}`, 'missing');
    }
    for (const name in object) {
      if (!Object.hasOwn(shape, name) && !isNetworkOf(object, name, place)) {
        found(`${place}.*`, 'unknown field', `${place}.${nameToTell(name, bearer)}`);
      }
    }
  }

  return {
    look(kind, rows, bearer) {
      const shape = shapeByKind[kind];
      const place = typeNames[kind];
      if (rows.length === 0 || shape === undefined || place === undefined || !mayLook()) return;
      seen += 1;
      const row = rows[seen % rows.length];
      if (typeOf(row) === 'object') lookAtObject(shape, recordOf(row), place, bearer);
      else found(place, 'wrong type');
    },
  };
}

/** An object that a channel has under the name of its network, which may be any. */
function isNetworkOf(object: Readonly<Record<string, unknown>>, name: string, place: string): boolean {
  return place === 'Channel' && typeOf(object[name]) === 'object';
}

/** A field's name, unless it may be something else: REST could use what a person has entered as one, or what it was sent. */
function nameToTell(name: string, bearer: string): string {
  const isOfBearer = bearer.includes(name) || name.includes(bearer);
  return /^[a-z][A-Za-z]{0,39}$/.test(name) && !isOfBearer ? name : '*';
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return value as Readonly<Record<string, unknown>>; // Seen to be an object by those who call.
}
