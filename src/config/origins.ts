import { quoted, type ValueType } from './setting.ts';

/**
 * The origins of web pages and packaged apps, as they are in the header `Origin`. Only an equal text is allowed later,
 * so an origin in any other form is refused here.
 */
export const origins: ValueType<readonly string[]> = {
  expected: 'a comma-separated list of origins such as https://shop.example or capacitor://localhost',
  parse(value) {
    const list = originsIn(value);
    return list.every((origin) => faultOf(origin) === undefined) ? Object.freeze(list) : undefined;
  },
  advice: (value) => [...new Set(originsIn(value).flatMap((origin) => faultOf(origin) ?? []))].join(' '),
};

function originsIn(value: string): string[] {
  return value.split(',').map((origin) => origin.trim());
}

/** Their pages have the origin `null`, or none at all. */
const schemesWithoutOrigin = /^(?:about|blob|data|file|javascript):/i;

/** Characters that no origin has. */
const foreignCharacters = /[\s"'<>|;]/;

/** What is wrong with an origin, and what to write. Undefined for the form that browsers and web views send. */
function faultOf(text: string): string | undefined {
  const shown = quoted(text);
  if (text === '') return 'A comma has no origin before or after it. Remove the comma.';
  if (text === 'null')
    return '"null" is the origin of every local file and sandboxed frame, so any page could send it. Give the page an address of its own.';
  if (text.includes('*')) return `${shown} has a wildcard, and any page could match it. List each origin.`;
  if (foreignCharacters.test(text))
    return `${shown} is not an origin. Separate origins by commas, without quotes and without blanks in an origin.`;
  if (schemesWithoutOrigin.test(text))
    return `${shown} has a scheme whose pages have no origin of their own.`;
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return faultWithoutScheme(text, shown);
  const origin = originOf(text);
  if (origin === undefined) return `${shown} is not an origin. Write a scheme, "://" and a host.`;
  if (origin === text) return undefined;
  return `${shown} ${reasonOf(text, origin)}. Write "${origin}".`;
}

function faultWithoutScheme(text: string, shown: string): string {
  const isLocal = /^\/*(?:localhost|127\.|\[::1\])/i.test(text);
  const origin = originOf(`${isLocal ? 'http' : 'https'}://${text.replace(/^\/+/, '')}`);
  const advice = origin === undefined ? 'Write a scheme, "://" and a host.' : `Write "${origin}".`;
  return `${shown} has no scheme. ${advice}`;
}

/** The origin of a URL: no path, no credentials, no default port, and a host in lower case and Punycode. */
function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  // The URL of a packaged app has an opaque host, and `origin` is "null" then.
  return url === null || url.host === '' ? undefined : `${url.protocol}//${url.host}`;
}

function reasonOf(text: string, origin: string): string {
  if (text.includes('@')) return 'has credentials';
  if (text === `${origin}/`) return 'ends with a slash';
  if (/^[^:]+:\/\/[^/]*[/?#]/.test(text)) return 'has a path';
  if (/:(?:80|443)$/.test(text)) return 'has the default port, which browsers omit';
  return 'has another form than browsers send';
}
