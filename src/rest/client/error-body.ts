import { isJsonObject, parseJson } from '../../base/json-object.ts';
import type { ErrorDetails, FieldError } from '../errors.ts';
import { type PrivateTexts, publicText } from './public-text.ts';

const maxFields = 50;

/**
 * Extracts the message and the field errors from an error body, as texts that clients may see. The REST interface does
 * not define the body ("Errors"). These JSON forms are recognized, and any other body may not be meant for a client:
 * - RFC 9457: `{title, detail, errors: [{pointer, detail}]}`;
 * - Google's error model: `{error: {message, details: [{fieldViolations: [{field, description}]}]}}`;
 * - `{message, code}` and `{errors: [{field, message}]}`.
 */
export function readErrorBody(body: string, privateTexts: PrivateTexts): ErrorDetails {
  const json = parseJson(body);
  if (!isJsonObject(json)) return { fields: [] };
  const error = isJsonObject(json.error) ? json.error : json;
  const message = firstText(error, ['message', 'detail', 'title']);
  const violations = list(error.details).flatMap((detail) =>
    isJsonObject(detail) && Array.isArray(detail.fieldViolations) ? detail.fieldViolations : [detail],
  );
  const { restHost } = privateTexts;
  // A host of one word, such as `orders`, may also be the name of a field.
  const privateInPaths = { ...privateTexts, restHost: restHost.includes('.') ? restHost : '' };
  const fields = [...violations, ...list(error.errors)].flatMap(fieldErrors).slice(0, maxFields);
  return {
    ...(message === undefined ? {} : { message: publicText(message, privateTexts) }),
    ...readCode(error),
    fields: fields.map(({ path, message, ...code }) => ({
      path: publicText(path, privateInPaths),
      message: publicText(message, privateTexts),
      ...code,
    })),
  };
}

/** The first text that has the form of a code, such as `FAILED_PRECONDITION` or `too-long`. */
function readCode(object: Record<string, unknown>): { code?: string } {
  const texts = ['reason', 'code', 'status', 'type'].map((name) => object[name]);
  const code = texts.find((text) => typeof text === 'string' && /^[a-z][a-z_-]{1,63}$/i.test(text));
  return typeof code === 'string' ? { code: code.toUpperCase().replaceAll('-', '_') } : {};
}

/** @returns an empty list if the item names no field or no message. */
function fieldErrors(item: unknown): FieldError[] {
  if (!isJsonObject(item)) return [];
  const path = firstText(item, ['field', 'pointer']);
  const message = firstText(item, ['message', 'description', 'detail']);
  if (path === undefined || message === undefined) return [];
  // A URL stays, so that `publicText` finds it.
  const dottedPath = path.includes('//') ? path : path.replace(/^#?\//, '').replaceAll('/', '.');
  return [{ path: dottedPath, message, ...readCode(item) }];
}

function firstText(object: Record<string, unknown>, names: readonly string[]): string | undefined {
  const texts = names.map((name) => object[name]);
  return texts.find((text): text is string => typeof text === 'string' && text !== '');
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
