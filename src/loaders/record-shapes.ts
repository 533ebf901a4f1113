import { InvalidResponseError } from '../rest/errors.ts';

/** Watches whether the rows of a list are the records that gets answer, for one tenant and resource. */
export interface RecordShapes {
  /** Whether a row lacked what the get of the same record had: then rows are no records. Never turns back. */
  readonly areRowsLacking: boolean;
  sawRows(rows: readonly (Named | InvalidResponseError)[]): void;
  sawGet(record: Named): void;
}

interface Named {
  name: string;
}

interface Shape {
  /** Where it differs, the record has changed in between, and its fields with it. */
  updateTime: unknown;
  fields: Set<string>;
}

// The newest rows are what is looked at one by one most often, right after their list.
const rowsPerPage = 20;
const mostRemembered = 200;

/** Remembers the names of fields, never what is in them. */
export function createRecordShapes(): RecordShapes {
  const rowShapes = new Map<string, Shape>();
  const getShapes = new Map<string, Shape>();
  let areRowsLacking = false;

  function compare(row: Shape, get: Shape): void {
    const times = [row.updateTime, get.updateTime].filter((time) => time !== undefined);
    if (new Set(times).size > 1) return;
    if (!get.fields.isSubsetOf(row.fields)) areRowsLacking = true;
  }

  return {
    get areRowsLacking() {
      return areRowsLacking;
    },
    sawRows(rows) {
      for (const [index, row] of rows.entries()) {
        if (row instanceof InvalidResponseError) continue;
        const get = getShapes.get(row.name);
        if (get === undefined && index >= rowsPerPage) continue;
        const shape = shapeOf(row);
        if (get !== undefined) compare(shape, get);
        if (index < rowsPerPage) remember(rowShapes, row.name, shape);
      }
    },
    sawGet(record) {
      const shape = shapeOf(record);
      const row = rowShapes.get(record.name);
      if (row !== undefined) compare(row, shape);
      remember(getShapes, record.name, shape);
    },
  };
}

function remember(shapes: Map<string, Shape>, name: string, shape: Shape): void {
  shapes.delete(name);
  shapes.set(name, shape);
  const [oldest] = shapes.keys();
  if (shapes.size > mostRemembered && oldest !== undefined) shapes.delete(oldest);
}

function shapeOf(record: Named): Shape {
  const fields = new Set<string>();
  collect(record, '', fields);
  return { updateTime: Object.entries(record).find(([field]) => field === 'updateTime')?.[1], fields };
}

/** The paths of all fields that hold something. What is in a list is left aside: lists differ in length. */
function collect(value: object, path: string, fields: Set<string>): void {
  for (const [key, field] of Object.entries(value)) {
    if (field === null || field === undefined) continue;
    fields.add(path + key);
    if (typeof field === 'object' && !Array.isArray(field)) collect(field, `${path}${key}.`, fields);
  }
}
