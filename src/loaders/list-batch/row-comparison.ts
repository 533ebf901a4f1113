import { isJsonObject } from '../../base/json-object.ts';

/** Whether a field is set in a record and empty in its row, unless the record changed between the two reads. */
export function lacksFields(row: object, record: object): boolean {
  const [before, after] = [row, record].map((each) => Reflect.get(each, 'updateTime') ?? undefined);
  const hasChanged = before !== undefined && after !== undefined && before !== after;
  return !hasChanged && lacks(row, record);
}

/** Arrays in a record are not compared, because their lengths differ. */
function lacks(row: object, record: object): boolean {
  return Object.entries(record).some(([field, value]) => {
    const rowValue: unknown = Reflect.get(row, field);
    if (value === null || value === undefined) return false;
    if (rowValue === null || rowValue === undefined) return true;
    return isJsonObject(value) && isJsonObject(rowValue) && lacks(rowValue, value);
  });
}
