import type { Refusal, RefusedField } from './errors.ts';

const maxMessageLength = 300;
const maxFields = 50;

/**
 * Reads what a refusal's body says. The interface does not show the shape of an error body, so the usual ones are
 * understood (a message under `message`, `error`, `detail` or `title`; fields under `details`, `errors`, `fields`,
 * `fieldViolations`, as a list or as a map) and anything else, HTML and plain text too, says nothing.
 */
export function readRefusal(body: string): Refusal {
  const json = parsed(body);
  if (!isObject(json)) return { fields: [] };
  const error = isObject(json.error) ? json.error : json;
  const message = [error.message, error.detail, error.title, json.message, json.error].find(isText);
  const fields = [error.details, error.errors, error.fieldViolations, error.fields].flatMap(refusedFields);
  return {
    ...(message === undefined ? {} : { message: cut(message) }),
    fields: fields.slice(0, maxFields),
  };
}

function refusedFields(value: unknown): RefusedField[] {
  if (Array.isArray(value)) {
    return value.filter(isObject).flatMap((entry) => {
      if (Array.isArray(entry.fieldViolations)) return refusedFields(entry.fieldViolations);
      const path = [entry.field, entry.path, entry.name, entry.loc, entry.instancePath]
        .map(dotted)
        .find(isText);
      const message = [entry.message, entry.description, entry.reason, entry.msg].find(isText);
      return path === undefined ? [] : [{ path, message: cut(message ?? 'was refused') }];
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([path, reason]) => {
    const message = Array.isArray(reason) ? reason.filter(isText).join('; ') : reason;
    return isText(message) ? [{ path: dotted(path) ?? path, message: cut(message) }] : [];
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

function cut(text: string): string {
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
