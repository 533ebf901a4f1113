import { isJsonObject, parseJson } from '../../base/json-object.ts';
import type { ErrorDetails } from '../errors.ts';
import { firstText, readCode, readFaults } from './faults.ts';
import { type PrivateTexts, publicText } from './public-text.ts';

const maxSentences = 5;

/**
 * Extracts the message and the field errors from an error body, as texts that clients may see. The REST interface does
 * not define the body ("Errors"), so the forms of the usual frameworks are read, by three rules:
 * - A text has one of a few names, such as `message`, also in an object under `error` or `detail`. A body of
 *   one line is a text too.
 * - Each object in a list, such as `errors` or `violations`, is a fault. It has a text, and may name a field.
 * - A map from names to texts, such as `errors` of Rails or the body of Django, has faults of fields.
 */
export function readErrorBody(body: string, privateTexts: PrivateTexts): ErrorDetails {
  const toPublic = (text: string) => publicText(text, privateTexts);
  const json = parseJson(body);
  if (!isJsonObject(json)) {
    const line = readLine(typeof json === 'string' ? json : json === undefined ? body : '');
    return { ...(line !== '' && { message: toPublic(line) }), fields: [] };
  }
  const error = [json.error, json.detail].find(isJsonObject) ?? json;
  const names = ['message', 'detail', 'error_description', 'msg', 'description'];
  const text = firstText(error, names) ?? firstText(json, names);
  const { fields, sentences } = readFaults(json);
  const general = [...new Set(sentences)].filter((sentence) => sentence !== text).slice(0, maxSentences);
  // Such as `Bad order: the cart is closed; the stock is low`.
  const parts = [text?.replace(/[.:]$/, ''), general.map(toPublic).join('; ')].filter(Boolean);
  // The name of the status, such as `Bad Request`, says least.
  const message = general.length === 0 ? (text ?? firstText(json, ['title', 'error'])) : parts.join(': ');
  const { restHost } = privateTexts;
  // A host of one word, such as `orders`, may also be the name of a field.
  const privateInPaths = { ...privateTexts, restHost: restHost.includes('.') ? restHost : '' };
  return {
    ...(message !== undefined && { message: toPublic(message) }),
    ...readCode(error),
    fields: fields.map(({ path, message, ...code }) => ({
      path: publicText(path, privateInPaths),
      message: toPublic(message),
      ...code,
    })),
  };
}

/** A text without JSON that is a sentence. A page, a stack trace and a part of JSON are not meant for a client. */
function readLine(text: string): string {
  return /^[^\p{Cc}<>{}[\]]{1,300}$/u.test(text.trim()) && /\p{L}/u.test(text) ? text.trim() : '';
}
