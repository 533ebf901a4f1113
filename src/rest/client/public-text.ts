// Called by error-body.ts. Removes from a text of REST what clients must not see.

import { isIPv6 } from 'node:net';

/** What no text of REST may show to a client. */
export interface PrivateTexts {
  accessToken: string;
  /** The host name of REST's base address. Empty: no host is replaced. */
  restHost: string;
}

const maxTextLength = 300;
// A shorter token is no secret, and its letters occur in the words of every message. Replacing them would spoil all
// messages, and would show where the token's letters are.
const minSecretLength = 8;

/**
 * The part of a text of REST that clients may see: its first line, because a stack trace may follow, with at most 300
 * characters. A neutral word replaces the access token and each URL, IP address and host of REST. The queries of paths
 * are removed, because a query may hold search terms or a token.
 */
export function publicText(text: string, { accessToken, restHost }: PrivateTexts): string {
  let line = text.trim().split(/[\r\n]/, 1)[0] ?? '';
  if (accessToken.length >= minSecretLength) line = line.replaceAll(accessToken, '<access token>');
  line = line
    .replace(urlPattern, '<URL>')
    .replace(ipv6Pattern, (address) => (isAddress(address) ? '<IP address>' : address))
    .replace(ipv4Pattern, '<IP address>');
  if (restHost !== '') line = line.replace(hostPattern(restHost), '<host>');
  return withoutQueries(truncate(line));
}

// A URL with its scheme, or from its two slashes on. A query with an equals sign stays for `withoutQueries`, because
// such a query may have spaces. The punctuation after a URL is not part of the URL.
const urlPattern =
  /(?:(?<![a-z\d+.-])[a-z\d+.-]+:|(?<=^|[\s"'(=]))\/\/(?=[\w[])[^\s"<>`?]*[^\s"<>`?.,;:!')](?:\?[^\s"<>`=]+(?=[\s"<>`]|$))?/gi;

// Also in the form `::ffff:10.0.0.1`. `isAddress` tells other texts with colons, such as a time, apart.
const ipv6Pattern = /(?<!\w)[\da-f:]*:(?:[\da-f:]*[\da-f]|:)(?:(?:\.\d{1,3}){3})?/gi;

const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4Pattern = new RegExp(`(?<![\\d.])(?:${octet}\\.){3}${octet}(?!\\d|\\.\\d)`, 'g');

function isAddress(text: string): boolean {
  return text !== '::' && isIPv6(text);
}

/** A host without a dot may be a common word, and is replaced only as a whole word. */
function hostPattern(host: string): RegExp {
  const escaped = host.replace(/[.[\]]/g, '\\$&');
  return new RegExp(host.includes('.') ? escaped : `(?<![\\w.-])${escaped}(?![\\w-])`, 'gi');
}

function truncate(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}

// A URL query: a question mark and the text after the question mark. Either an equals sign follows in the same word,
// or a slash precedes the question mark in the same word. A space ends the query, unless an ampersand follows later.
const queryPattern = /\?(?:[^\s"<>`]*=|(?<=\/\S*)(?=[^\s"<>`]))[^\s"<>`]*(?:[^"<>`]*&[^\s"<>`]+)?/g;

/**
 * Removes the queries of URLs and paths. Keeps question marks that end a question. For short texts only: the run time
 * is quadratic.
 */
function withoutQueries(text: string): string {
  return text.replace(queryPattern, '');
}
