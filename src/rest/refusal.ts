import type { Refusal, RefusedField } from './errors.ts';

const maxTextLength = 300;
const maxFields = 50;

/**
 * Reads what a refusal's body says. The interface does not show the shape of an error body, so the usual ones are
 * understood (a message under `message`, `error`, `detail` or `title`; fields under `details`, `errors`, `fields`,
 * `fieldViolations`, as a list or as a map, or as a list under `detail`) and anything else, HTML and plain text too, says nothing.
 * Where the body repeats the access token, it is blanked; of a text of many lines, such as a stack, the first is taken;
 * URLs and paths in messages lose their query, which may hold what was searched for or a token.
 */
export function readRefusal(body: string, accessToken: string): Refusal {
  const json = parsed(body);
  if (!isObject(json)) return { fields: [] };
  const error = isObject(json.error) ? json.error : json;
  const message = [error.message, error.detail, error.title, json.message, json.error].find(isText);
  const listed = Array.isArray(error.detail) ? error.detail : undefined;
  const fields = [error.details, error.errors, error.fieldViolations, error.fields, listed]
    .flatMap(refusedFields)
    .filter(({ path }) => path !== '')
    .slice(0, maxFields);
  const told = (text: string) => cut(firstLine(text).replaceAll(accessToken, '<access token>'));
  return {
    ...(message === undefined ? {} : { message: withoutQueries(told(message)) }),
    fields: fields.map(({ path, message }) => ({ path: told(path), message: withoutQueries(told(message)) })),
  };
}

/**
 * The header `retry-after`, in seconds or as a date, in milliseconds from now; undefined where it is neither.
 * `Date.parse` alone would take "soon 1" for a date in 2001.
 */
export function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const time = /^[A-Z][a-z]+, .+ GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}

function refusedFields(value: unknown): RefusedField[] {
  if (Array.isArray(value)) {
    return value.filter(isObject).flatMap((entry) => {
      if (Array.isArray(entry.fieldViolations)) return refusedFields(entry.fieldViolations);
      const path = [entry.field, entry.path, entry.name, entry.loc, entry.instancePath]
        .map(dotted)
        .find(isText);
      const message = [entry.message, entry.description, entry.reason, entry.msg].find(isText);
      return path === undefined ? [] : [{ path, message: message ?? 'was refused' }];
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([path, reason]) => {
    const message = Array.isArray(reason) ? reason.filter(isText).join('; ') : reason;
    return isText(message) ? [{ path: dotted(path) ?? path, message }] : [];
  });
}

/** `['recipient', 'address']` and the JSON pointer `/recipient/address` as `recipient.address`. */
function dotted(path: unknown): string | undefined {
  if (Array.isArray(path)) return path.join('.');
  return isText(path) ? path.replace(/^\//, '').replaceAll('/', '.') : undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Not JSON, so nothing in it is known to be meant for a client.
    return undefined;
  }
}

function firstLine(text: string): string {
  return text.trim().split(/[\r\n]/, 1)[0] ?? '';
}

// What follows a question mark, where an equals sign follows or a slash comes before it in the same word. Blanks end it,
// unless an ampersand tells that it goes on behind them.
const query = /\?(?:[^\s"<>`=]*=|(?<=\/\S*)(?=[^\s"<>`]))[^\s"<>`]*(?:[^"<>`]*&[^\s"<>`]+)?/g;

/** A text without the queries of the URLs and paths in it, and with its questions. Made for short texts. */
function withoutQueries(text: string): string {
  return text.replace(query, '');
}

function cut(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
