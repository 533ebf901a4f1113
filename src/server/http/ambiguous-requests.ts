import type { IncomingMessage } from 'node:http';
import { badRequest, type HttpError } from './http-error.ts';

/** Rejects codings beside `chunked`: Node accepts some, and a proxy may read such a request in another way. */
export function checkTransferCoding({ headers }: IncomingMessage): HttpError | undefined {
  const coding = headers['transfer-encoding'];
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined;
  return badRequest(
    'The only supported "Transfer-Encoding" is "chunked". Send the body without other codings.',
  );
}

/**
 * Checks that the header `Host` and the request target form a URL with the path of the target. For another URL, Yoga would
 * respond with a stack trace. A target in absolute form (RFC 9112) is split into host and path.
 */
export function checkUrl(request: IncomingMessage): HttpError | undefined {
  const { headers, httpVersion } = request;
  // Node joins repeated headers by this text. No host has it.
  if (headers.host?.includes(', ')) return badRequest('The request has several "Host" headers. Send one.');
  if (headers.host === undefined && httpVersion === '1.1') {
    return badRequest('An HTTP/1.1 request needs the header "Host".');
  }
  const absoluteUrl = /^https?:\/\/([^/?#]*)(.*)$/i.exec(request.url ?? '');
  if (absoluteUrl !== null) {
    const [, host = '', path = ''] = absoluteUrl;
    headers.host = host;
    request.url = path.startsWith('/') ? path : `/${path}`;
  }
  const { url: target = '' } = request;
  const { host = '' } = headers;
  if (plainTarget.test(target) && plainHost.test(host)) return undefined;
  const url = parseUrl(host, target);
  if (url === null) return badRequest('The header "Host" and the request target do not form a URL.');
  const [path = ''] = target.split('?', 1);
  if (!isUtf8(target.slice(path.length)))
    return badRequest('The query of the URL is not UTF-8. Percent-encode its bytes in UTF-8.');
  // Routes must see the path that a proxy in front sees. URL parsing resolves `..`, and takes a backslash for a slash.
  return url.pathname === path && !path.includes('//') && !target.includes('#') ? undefined : ambiguousPath;
}

// Parsing a URL costs a twentieth of a small request. These targets and hosts form a URL that keeps the path.
const plainTarget = /^(?:\/\w[\w-]*)+(?:\.\w+)?(?:\?[\w=&-]*)?$/;
const plainHost = /^(?:[a-z][a-z\d-]*|127\.0\.0\.1)(?:\.[a-z][a-z\d-]*)*(?::\d{1,4})?$/;

/** Whether a query is percent-encoded UTF-8. URL parsing would replace other bytes, and change the values of a query. */
function isUtf8(query: string): boolean {
  try {
    // A stray percent sign stays what it is.
    decodeURIComponent(query.replace(/%(?![\da-f]{2})/gi, '%25'));
    return true;
  } catch {
    return false;
  }
}

function parseUrl(host: string, target: string): URL | null {
  // These characters would end the host early. The rest would become path, query or fragment.
  if (/[\s/\\?#@]/.test(host) || !target.startsWith('/')) return null;
  // Yoga uses localhost if the host is empty.
  return URL.parse(`http://${host === '' ? 'localhost' : host}${target}`);
}

const ambiguousPath = badRequest(
  'The path is ambiguous. Percent-encode it, and send no "//", "#", "\\" or segments such as "..".',
);
