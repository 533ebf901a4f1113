import { isJsonObject } from '../../base/json-object.ts';
import { findDifferences } from '../../rest/watch/schema-drift.ts';
import type { ResourceKind } from '../../rest/wire-schema.ts';
import {
  type Check,
  type Examination,
  maxRows,
  ok,
  open,
  recordPaths,
  textIn,
  warning,
} from '../examination.ts';

const maxRecords = 3;

/** Whether up to 100 rows of a list, or 3 records without a list, have the fields of the REST interface. */
export function checkFields(kind: ResourceKind): Check {
  return async (examination) => {
    const records = (await recordsOf(kind, examination)).slice(0, maxRows);
    const { token } = examination.service.options;
    const differences = records.flatMap((record) => findDifferences(kind, record, token));
    const hint = kind === 'messages' ? ' Use --conversation channels/<id>/conversations/<id>.' : '';
    if (records.length === 0) return open(`No records were found.${hint}`);
    if (differences.length === 0)
      return ok(`All fields match the REST interface (records: ${records.length}).`);
    const examples = new Map<string, string>();
    for (const { coordinate, difference, value = '' } of differences) {
      // One example of an invalid value is enough: each record may have another time.
      const kindOfValue = difference === 'unknown value' ? value : '';
      const key = `${difference} ${coordinate} ${kindOfValue}`;
      if (!examples.has(key)) examples.set(key, `${difference} ${coordinate} ${value}`.trim());
    }
    const causes = [...examples.values()];
    const remedy = causes.every((cause) => cause.startsWith('unknown field'))
      ? 'Waybill ignores unknown fields. Nothing fails.'
      : 'Unknown values become UNRECOGNIZED. A missing field, a wrong type or an invalid value, such as a time without a zone, causes an error at that field.';
    return warning(`${causes.sort().join(', ')}.`, remedy);
  };
}

async function recordsOf(kind: ResourceKind, examination: Examination): Promise<readonly unknown[]> {
  const { conversation } = examination.service.options;
  const [channel] = pathsIn(examination, 'channels');
  if (kind === 'organization') return readRecords(examination, ['/v1/organizations/mine']);
  if (kind === 'quotes') return readRecords(examination, pathsIn(examination, 'shipments', 'quote'));
  let path: string | undefined;
  if (kind === 'templates') path = channel && `${channel}/templates`;
  else if (kind === 'messages') path = conversation && `/v1/${encodeURI(conversation)}/messages`;
  else path = `/v1/${kind}`;
  return path ? examination.rows(kind, path) : [];
}

/** Whether a row has all that its record has. Batches of ids use rows in place of records. */
export const rowsAndRecords: Check = async (examination) => {
  const fields = new Set<string>();
  let compared = 0;
  for (const kind of ['orders', 'shipments'] as const) {
    const rows = examination.pages.get(kind)?.rows ?? [];
    for (const record of await readRecords(examination, pathsIn(examination, kind))) {
      const row = rows.find((each) => textIn(each, 'name') === textIn(record, 'name'));
      const [before, after] = [row, record].map((each) => textIn(each, 'updateTime'));
      // The record has changed since the row was read.
      if (before && after && before !== after) continue;
      compared += 1;
      for (const field of differentFields(row, record)) fields.add(`${kind}.${field}`);
    }
  }
  if (compared === 0) return open('No row of a list could be compared with its record.');
  if (fields.size === 0) return ok(`All rows equal their records (rows: ${compared}).`);
  examination.settings.UPSTREAM_LISTS_FOR_BATCHES = 'no';
  const remedy = 'With UPSTREAM_LISTS_FOR_BATCHES=no, Waybill reads each record by its id.';
  return warning(`Rows and records differ in ${[...fields].sort().join(', ')}.`, remedy);
};

/** The paths of the records that a field of the rows of a list names. */
function pathsIn({ pages }: Examination, kind: ResourceKind, field = 'name'): string[] {
  return recordPaths(pages.get(kind)?.rows.map((row) => textIn(row, field)) ?? []);
}

async function readRecords({ service }: Examination, paths: readonly string[]): Promise<unknown[]> {
  const records: unknown[] = [];
  for (const path of paths.slice(0, maxRecords)) {
    const { status, json } = await service.get(path);
    if (status === 200) records.push(json);
  }
  return records;
}

/** Null counts as absent. `labelUrl` is signed again for each response. */
function differentFields(row: unknown, record: unknown): string[] {
  if (!isJsonObject(row) || !isJsonObject(record)) return ['*'];
  return [...new Set([...Object.keys(row), ...Object.keys(record)])].flatMap((field) => {
    const [one, other] = [row[field] ?? null, record[field] ?? null];
    if (field === 'labelUrl' && typeof one === typeof other) return [];
    if (isJsonObject(one) && isJsonObject(other))
      return differentFields(one, other).map((rest) => `${field}.${rest}`);
    if (JSON.stringify(one) === JSON.stringify(other)) return [];
    // An unknown name may be data.
    return [/^[a-z][A-Za-z]{0,39}$/.test(field) ? field : '*'];
  });
}
