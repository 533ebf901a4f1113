import type { Refusal } from './errors.ts';
import { saidIn } from './refusal-shape.ts';

/** A refusal says what is wrong in far less; a larger one is not worth reading. */
export const maxRefusalBytes = 65_536;

const maxTextLength = 300;
const maxFields = 50;

/**
 * Reads what a refusal's body says. The interface does not show the shape of an error body, so the usual ones are
 * understood, and anything else, HTML and plain text too, says nothing.
 * Where the body repeats the access token, it is blanked; of a text of many lines, such as a stack, the first is taken;
 * URLs and paths in messages lose their query, which may hold what was searched for or a token.
 */
export function readRefusal(body: string, accessToken: string): Refusal {
  const said = saidIn(body);
  const told = (text: string) => cut(firstLine(text).replaceAll(accessToken, '<access token>'));
  const toldMessage = (text: string) => withoutQueries(told(text));
  // Some say the same of the whole and of its one part.
  const [first, ...others] = new Set(said.messages.slice(0, maxFields).map(toldMessage));
  const message = others.length === 0 ? first : cut(`${first}: ${others.join('; ')}`);
  const fields = said.fields
    .slice(0, maxFields)
    .map((field) => ({ path: told(field.path), message: toldMessage(field.message) }));
  return { ...(message === undefined ? {} : { message }), fields };
}

/** The same of a body that may be missing, or nested too deeply to be read: the status says what matters. */
export function refusalIn(body: string | undefined, accessToken: string): Refusal {
  try {
    return body === undefined ? { fields: [] } : readRefusal(body, accessToken);
  } catch {
    return { fields: [] };
  }
}

// The largest `Int` of GraphQL, about 25 days.
const maxDelayMs = 2 ** 31 - 1;

/**
 * The header `retry-after`, in seconds or as a date, in milliseconds from now; undefined where it is neither.
 * `Date.parse` alone would take "soon 1" for a date in 2001.
 */
export function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Math.min(Number(header) * 1000, maxDelayMs);
  const time = /^[A-Z][a-z]+, .+ GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.min(Math.max(0, time - Date.now()), maxDelayMs);
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
