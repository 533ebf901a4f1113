import { isIPv6 } from 'node:net';

/** What no text of REST may show to a client. */
export interface PrivateTexts {
  accessToken: string;
  /** The host name of REST's base address. Empty: no host is replaced. */
  restHost: string;
}

const maxTextLength = 300;
// The run time of some patterns is quadratic.
const maxSearchedLength = 4_096;
// A shorter token is no secret, and its letters occur in the words of every message. Replacing them would spoil all
// messages, and would show where the token's letters are.
const minSecretLength = 8;

/**
 * The part of a text of REST that clients may see: its first line, because a stack trace may follow, with at most 300
 * characters. A neutral word replaces the access token and each URL, IP address and host of REST. The queries of paths
 * are removed, because a query may hold search terms or a token.
 */
export function publicText(text: string, { accessToken, restHost }: PrivateTexts): string {
  let [line = ''] = text.trim().split(/[\r\n]/, 1);
  if (accessToken.length >= minSecretLength) line = line.replaceAll(accessToken, '<access token>');
  if (line.length > maxSearchedLength) line = wholeWords(line);
  line = line
    .replace(urlPattern, '<URL>')
    .replace(ipv6Pattern, (match) => (match !== '::' && isIPv6(match) ? '<IP address>' : match))
    .replace(ipv4Pattern, '<IP address>');
  if (restHost !== '') line = line.replace(hostPattern(restHost), '<host>');
  if (line.length > maxTextLength) line = `${line.slice(0, maxTextLength)}…`;
  // After the cut, because the run time of this pattern is quadratic.
  return line.replace(queryPattern, '');
}

/** The start of a line without its last word. A part of a URL or host would not be found. */
function wholeWords(line: string): string {
  return `${line.slice(0, Math.max(0, line.lastIndexOf(' ', maxSearchedLength)))} …`;
}

// A URL: its scheme, or the start of a word; two slashes and a host; the rest of the word without punctuation at its end;
// a query without an equals sign. Another query stays for `queryPattern`, because it may have spaces. "See
// http://rest/a?b=1." becomes "See <URL>?b=1.", and "//rest/a?b" becomes "<URL>".
const urlPattern =
  /(?:(?<![a-z\d+.-])[a-z\d+.-]+:|(?<=^|[\s"'(=]))\/\/(?=[\w[])[^\s"<>`?]*[^\s"<>`?.,;:!')](?:\?[^\s"<>`=]+(?=[\s"<>`]|$))?/gi;

// Also in the form `::ffff:10.0.0.1`. `isIPv6` tells other texts with colons, such as a time, apart.
const ipv6Pattern = /(?<!\w)[\da-f:]*:(?:[\da-f:]*[\da-f]|:)(?:(?:\.\d{1,3}){3})?/gi;

const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4Pattern = new RegExp(`(?<![\\d.])(?:${octet}\\.){3}${octet}(?!\\d|\\.\\d)`, 'g');

/** A host without a dot may be a common word, and is replaced only as a whole word. */
function hostPattern(host: string): RegExp {
  const escaped = host.replace(/[.[\]]/g, '\\$&');
  return new RegExp(host.includes('.') ? escaped : `(?<![\\w.-])${escaped}(?![\\w-])`, 'gi');
}

// A URL query, from its question mark on. It has an equals sign in the same word ("?q=a"), or a slash before it in the
// same word ("/v1/x?a"). A space ends the query, unless an ampersand follows later: "/v1/x?q=a b&c d" becomes "/v1/x d".
// The question mark of "Why?" stays. For short texts only: the run time is quadratic.
const queryPattern = /\?(?:[^\s"<>`]*=|(?<=\/\S*)(?=[^\s"<>`]))[^\s"<>`]*(?:[^"<>`]*&[^\s"<>`]+)?/g;
