import { isJsonObject } from '../../base/json-object.ts';
import type { RestCall } from '../call.ts';
import { type ErrorDetails, type FieldError, StatusError } from '../errors.ts';
import { type PrivateTexts, publicText } from './public-text.ts';

/** Bytes. A larger error body is not read, because real error messages are far smaller. */
export const maxErrorBodyBytes = 65_536;

const maxFields = 50;

/** A response with a status other than 2xx. */
export interface ErrorResponse {
  status: number;
  /** The value of the `retry-after` header. */
  retryAfter: string | string[] | undefined;
  /** The decompressed body. Undefined if the body could not be read. */
  text: string | undefined;
}

/** Creates the error for a non-2xx response to `call`. Its texts are fit for clients, as `publicText` says. */
export function statusErrorOf(
  call: RestCall,
  response: ErrorResponse,
  privateTexts: PrivateTexts,
): StatusError {
  const details = readErrorBody(response.text ?? '', privateTexts);
  return new StatusError(call, response.status, details, retryAfterMs(response.retryAfter));
}

/**
 * Extracts the message and the field errors from an error body. The REST interface does not define the body
 * ("Errors"). These JSON forms are recognized:
 * - Google's error model, whose conventions the REST interface follows: `{error: {message, details}}`, with
 *   `fieldViolations` in `details`;
 * - RFC 9457 problem details: `{title, detail, errors}`;
 * - common framework forms: `{message, errors}`, `{message, fields}` and FastAPI's `{detail}`.
 * Field errors are a list of objects with a path and a reason, or a map from paths to texts. Any other body, such as
 * HTML or plain text, is ignored: its text may not be meant for a client.
 */
export function readErrorBody(body: string, privateTexts: PrivateTexts): ErrorDetails {
  const json = parseJson(body);
  if (!isJsonObject(json)) return { fields: [] };
  const error = isJsonObject(json.error) ? { ...json, ...json.error } : json;
  const { restHost } = privateTexts;
  // A host of one word, such as `orders`, may also be the name of a field.
  const privateInPaths = { ...privateTexts, restHost: restHost.includes('.') ? restHost : '' };
  const message = firstText(error, ['message', 'detail', 'title', 'error', 'errors']);
  const fields = [error.details, error.errors, error.fields, error.detail].flatMap(fieldErrorsIn);
  return {
    ...(message === undefined ? {} : { message: publicText(message, privateTexts) }),
    fields: fields.slice(0, maxFields).map(({ path, message }) => ({
      path: publicText(path, privateInPaths),
      message: publicText(message, privateTexts),
    })),
  };
}

/** Reads field errors from a list of error objects, or from a map from field paths to texts. */
function fieldErrorsIn(value: unknown): FieldError[] {
  if (Array.isArray(value)) return value.flatMap(violationsOf).flatMap(fieldErrorOf);
  if (!isJsonObject(value)) return [];
  if (Array.isArray(value.fieldViolations)) return value.fieldViolations.flatMap(fieldErrorOf);
  return Object.keys(value).flatMap((path) => {
    const message = firstText(value, [path]);
    return path === '' || message === undefined ? [] : [{ path, message }];
  });
}

/** The field violations of a `google.rpc` error detail. Any other entry is itself one violation. */
function violationsOf(entry: unknown): unknown[] {
  return isJsonObject(entry) && Array.isArray(entry.fieldViolations) ? entry.fieldViolations : [entry];
}

/** Reads one field error, with a dotted path. @returns an empty list if the item names no field or no message. */
function fieldErrorOf(item: unknown): FieldError[] {
  if (!isJsonObject(item)) return [];
  const path = firstText(item, ['field', 'path', 'name', 'loc', 'instancePath', 'pointer'], '.');
  const message = firstText(item, ['message', 'description', 'reason', 'msg', 'detail']);
  if (path === undefined || message === undefined) return [];
  // The path may be a JSON pointer, also in the form of a URI fragment. A URL stays, so that `publicText` finds it.
  const isUrl = path.includes('//');
  return [{ path: isUrl ? path : path.replace(/^#?\//, '').replaceAll('/', '.'), message }];
}

/** The first of the named properties that is a non-empty text, or a list of texts and numbers, which is joined. */
function firstText(
  object: Record<string, unknown>,
  names: readonly string[],
  separator = '; ',
): string | undefined {
  for (const name of names) {
    const value = object[name];
    const text = Array.isArray(value) && value.every(isTextOrNumber) ? value.join(separator) : value;
    if (typeof text === 'string' && text !== '') return text;
  }
  return undefined;
}

function isTextOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Not JSON: the text may not be meant for a client.
    return undefined;
  }
}

// The largest GraphQL `Int`, about 25 days.
const maxDelayMs = 2 ** 31 - 1;

/**
 * Parses the `retry-after` header, seconds or a date. @returns milliseconds from now, or undefined for an invalid
 * header. The date is checked by a pattern first, because `Date.parse` accepts "soon 1" as a date in 2001.
 */
function retryAfterMs(header: ErrorResponse['retryAfter']): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Math.min(Number(header) * 1000, maxDelayMs);
  const time = /^[A-Z][a-z]+, .+ GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.min(Math.max(0, time - Date.now()), maxDelayMs);
}
