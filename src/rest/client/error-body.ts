import type { RestCall } from '../call.ts';
import { type ErrorDetails, type FieldError, StatusError } from '../errors.ts';

/** An error body says what is wrong in far less. A larger one is not worth reading. */
export const maxErrorBodyBytes = 65_536;

const maxTextLength = 300;
const maxFields = 50;

/** A response with a status other than 2xx. */
export interface ErrorResponse {
  status: number;
  /** The header `retry-after`. */
  retryAfter: string | string[] | undefined;
  /** The decompressed body; undefined where it could not be read. */
  text: string | undefined;
}

/** The error for a response other than 2xx to `call`. `accessToken` is blanked where the body repeats it. */
export function statusErrorOf(call: RestCall, response: ErrorResponse, accessToken: string): StatusError {
  const details = readErrorBody(response.text ?? '', accessToken);
  return new StatusError(call, response.status, details, retryAfterMs(response.retryAfter));
}

/**
 * Reads an error body. The REST interface leaves its form open ("Errors"). These forms are understood, as JSON:
 * - Google's, whose conventions the interface follows: `{error: {message, details}}`, with `fieldViolations` in `details`;
 * - a problem of RFC 9457: `{title, detail, errors}`;
 * - those of frameworks: `{message, errors}`, `{message, fields}` and FastAPI's `{detail}`.
 * The faults are a list whose items name a path and a reason, or a map from paths to texts. Any other body says nothing,
 * HTML and plain text too, as nothing in it is known to be meant for a client.
 * A message is its first line, without the stack that may follow. URLs and paths in it lose their query, which may hold
 * what was searched for, or a token.
 */
export function readErrorBody(body: string, accessToken: string): ErrorDetails {
  const json = parsed(body);
  if (!isObject(json)) return { fields: [] };
  const error = isObject(json.error) ? { ...json, ...json.error } : json;
  const line = (text: string) =>
    cut((text.trim().split(/[\r\n]/, 1)[0] ?? '').replaceAll(accessToken, '<access token>'));
  const message = firstText(error, ['message', 'detail', 'title', 'error', 'errors']);
  const fields = [error.details, error.errors, error.fields, error.detail].flatMap(fieldsIn);
  return {
    ...(message === undefined ? {} : { message: withoutQueries(line(message)) }),
    fields: fields
      .slice(0, maxFields)
      .map((field) => ({ path: line(field.path), message: withoutQueries(line(field.message)) })),
  };
}

/** The fields of a list of faults, or of a map from fields to texts. */
function fieldsIn(value: unknown): FieldError[] {
  if (Array.isArray(value)) return value.flatMap(violationsOf).flatMap(fieldOf);
  if (!isObject(value)) return [];
  if (Array.isArray(value.fieldViolations)) return value.fieldViolations.flatMap(fieldOf);
  return Object.keys(value).flatMap((path) => {
    const message = firstText(value, [path]);
    return path === '' || message === undefined ? [] : [{ path, message }];
  });
}

/** One fault, or the list of them that a detail of google.rpc is. */
function violationsOf(entry: unknown): unknown[] {
  return isObject(entry) && Array.isArray(entry.fieldViolations) ? entry.fieldViolations : [entry];
}

/** The field of one fault, with dots in its path; none where it names no field. */
function fieldOf(fault: unknown): FieldError[] {
  if (!isObject(fault)) return [];
  const path = firstText(fault, ['field', 'path', 'name', 'loc', 'instancePath', 'pointer'], '.');
  const message = firstText(fault, ['message', 'description', 'reason', 'msg', 'detail']);
  if (path === undefined || message === undefined) return [];
  // A JSON pointer, also as the fragment of a URI.
  return [{ path: path.replace(/^#?\//, '').replaceAll('/', '.'), message }];
}

/** The first of these properties that is a text, or a list of texts and numbers, which are joined. */
function firstText(
  object: Record<string, unknown>,
  names: readonly string[],
  separator = '; ',
): string | undefined {
  for (const name of names) {
    const value = object[name];
    const text = Array.isArray(value) && value.every(isWord) ? value.join(separator) : value;
    if (typeof text === 'string' && text !== '') return text;
  }
  return undefined;
}

function isWord(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Not JSON, so nothing in it is known to be meant for a client.
    return undefined;
  }
}

function cut(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}

// What follows a question mark, where an equals sign follows or a slash comes before it in the same word. Blanks end it,
// unless an ampersand tells that it goes on behind them.
const query = /\?(?:[^\s"<>`=]*=|(?<=\/\S*)(?=[^\s"<>`]))[^\s"<>`]*(?:[^"<>`]*&[^\s"<>`]+)?/g;

/** A text without the queries of the URLs and paths in it, and with its questions. Made for short texts. */
function withoutQueries(text: string): string {
  return text.replace(query, '');
}

// The largest `Int` of GraphQL, about 25 days.
const maxDelayMs = 2 ** 31 - 1;

/**
 * The header `retry-after`, seconds or a date, as milliseconds from now; undefined where it is neither.
 * `Date.parse` alone would take "soon 1" for a date in 2001.
 */
function retryAfterMs(header: ErrorResponse['retryAfter']): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Math.min(Number(header) * 1000, maxDelayMs);
  const time = /^[A-Z][a-z]+, .+ GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.min(Math.max(0, time - Date.now()), maxDelayMs);
}
