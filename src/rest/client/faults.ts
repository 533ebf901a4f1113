import { isJsonObject } from '../../base/json-object.ts';
import type { FieldError } from '../errors.ts';

const maxFaults = 50;
// Deep enough for `error.details[].fieldViolations[]`, and for the fields of an address in a map.
const maxDepth = 5;

// Names of lists and maps of faults, in the form of `normalized`. Objects with `detailNames` may also hold data for
// developers, so a client gets only their texts that name a field.
const faultNames =
  /^(errors|message|(field)?violations|fielderrors|fields|issues|invalidparam(eter)?s|validation(errors)?)$/;
const detailNames = /^(error|details?)$/;
const normalized = (name: string) => name.toLowerCase().replace(/[-_]/g, '');

const texts = 'message detail description msg defaultMessage errorMessage title reason'.split(' ');
const paths = 'field path pointer param loc source instancePath propertyPath propertyName property'.split(
  ' ',
);
/** The keys of faults of the whole input in a map: of Django, Rails and ASP.NET. */
const wholeInput = ['', '$', 'base', 'non_field_errors', '__all__'];

type Json = Record<string, unknown>;

/**
 * Finds what REST rejects, in the order of the body: fields, and sentences about no field. Together at most 50.
 * `readObject` looks for names of faults, and `readValue` reads what stands under such a name, which may be an object again.
 * @example
 * readFaults({ errors: { address: { city: ['is required'] }, base: ['is closed'] } })
 * // { fields: [{ path: 'address.city', message: 'is required' }], sentences: ['is closed'] }
 * @example
 * readFaults({ error: { message: 'Bad', details: [{ fieldViolations: [{ field: 'name', description: 'is empty' }] }] } })
 * // { fields: [{ path: 'name', message: 'is empty' }], sentences: [] }
 */
export function readFaults(body: Json): { fields: FieldError[]; sentences: string[] } {
  const fields: FieldError[] = [];
  const sentences: string[] = [];
  const count = () => fields.length + sentences.length;

  function add(path: string, message: string, source: Json): void {
    if (message === '' || count() >= maxFaults) return;
    if (path === '') sentences.push(message);
    else fields.push({ path, message, ...readCode(source) });
  }

  /**
   * Reads the faults in an object of the body.
   * @param at the path of the field to which the faults belong; empty outside a map of fields.
   * @param isMap whether the object maps fields to faults. Its keys are then names of fields.
   */
  function readObject(object: Json, at: string, isMap: boolean, depth: number): void {
    const countBefore = count();
    for (const [key, value] of Object.entries(object)) {
      const isOfFaults = faultNames.test(normalized(key));
      const below = [at, wholeInput.includes(key) ? '' : dotted(key)].filter(Boolean).join('.');
      if (at === '' && (isOfFaults || detailNames.test(normalized(key)))) {
        // A text, as in `message: 'Bad'`, is no fault but the message of the body.
        if (typeof value !== 'string') readValue(value, '', isOfFaults, depth + 1);
      } else if (isMap) readValue(value, below, true, depth + 1);
    }
    // An object without names of faults may be a map of fields itself, such as the body of Django.
    if (!isMap && count() === countBefore && isFieldMap(object, depth)) readObject(object, at, true, depth);
  }

  /**
   * Reads the faults of a value: a text, an object with a text, or an object with further faults.
   * @param isOfFaults whether the name of the value says that it has faults. Otherwise only texts that name a field count.
   */
  function readValue(value: unknown, at: string, isOfFaults: boolean, depth: number): void {
    if (depth > maxDepth) return;
    for (const item of Array.isArray(value) ? value : [value]) {
      if (typeof item === 'string' && isOfFaults) add(at, item, {});
      if (!isJsonObject(item)) continue;
      const text = firstText(item, texts);
      // In a map of fields, the keys name the field (`at`). Elsewhere the object itself may name it.
      const path = at === '' && (isOfFaults || Array.isArray(value)) ? pathOf(item) : at;
      if (text !== undefined && (isOfFaults || path !== '')) add(path, text, item);
      // A fault that names its field is complete. Others may have further faults below them.
      const isComplete = text !== undefined && path !== '';
      // The keys of an object with a text, such as `message`, are no fields.
      if (!isComplete) readObject(item, at, isOfFaults && text === undefined, depth);
    }
  }

  readObject(body, '', false, 0);
  return { fields, sentences };
}

/** The first of the named properties that is a text. */
export function firstText(object: Json, names: readonly string[]): string | undefined {
  const values = names.map((name) => object[name]);
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

/** The first text that has the form of a code, such as `FAILED_PRECONDITION` or `too-long`. */
export function readCode(object: Json): { code?: string } {
  const values = ['reason', 'code', 'status', 'type'].map((name) => object[name]);
  const code = values.find((value) => typeof value === 'string' && /^[a-z][a-z_-]{1,63}$/i.test(value));
  return typeof code === 'string' ? { code: code.toUpperCase().replaceAll('-', '_') } : {};
}

/** Whether all values are lists of texts or maps of such lists. Other objects may hold any data. */
function isFieldMap(object: Json, depth: number): boolean {
  const values = Object.values(object);
  const isOfFields = (value: unknown) =>
    Array.isArray(value)
      ? value.every((text) => typeof text === 'string')
      : depth < maxDepth && isJsonObject(value) && isFieldMap(value, depth + 1);
  return values.length > 0 && values.every(isOfFields);
}

/** The dotted path of the field that a fault names. Empty if it names none. */
function pathOf(fault: Json): string {
  // `name` is the field of RFC 7807's `invalid-params`. In other faults, it is often the name of a class.
  for (const name of typeof fault.reason === 'string' ? [...paths, 'name'] : paths) {
    const value = fault[name];
    const path = isJsonObject(value) ? firstText(value, ['pointer', 'parameter']) : value;
    if (typeof path === 'string' && path !== '') return dotted(path);
    if (Array.isArray(path) && path.length > 0) return path.filter((part) => Object(part) !== part).join('.');
  }
  return '';
}

/** A URL stays, so that `publicText` finds it. */
function dotted(path: string): string {
  return path.includes('//') ? path : path.replace(/^(?:#?\/|\$\.)/, '').replaceAll('/', '.');
}
