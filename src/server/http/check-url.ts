import type { IncomingMessage } from 'node:http';
import type { Refusal } from './http-error.ts';

/**
 * Why a request can't be answered for its address, or undefined. The library's adapter makes the URL of each request from
 * its header `Host` and its target, and answers one that it can't make with a stack. A target that is a whole URL, as HTTP
 * has servers take it, is turned into host and path.
 */
export function addressRefusal(request: IncomingMessage): Refusal | undefined {
  const { headers, httpVersion } = request;
  if (headers.host === undefined && httpVersion === '1.1') {
    return badRequest('A request of HTTP/1.1 needs the header "Host".');
  }
  const whole = request.url?.startsWith('/') ? null : /^https?:\/\/([^/?#]*)(.*)$/i.exec(request.url ?? '/');
  if (whole !== null) {
    const [, host = '', path = ''] = whole;
    headers.host = host;
    request.url = path.startsWith('/') ? path : `/${path}`;
  }
  return hasUrl(request) ? undefined : badRequest('The header "Host" and the request target make no URL.');
}

function hasUrl({ headers: { host = '' }, url = '/' }: IncomingMessage): boolean {
  // Any of these would end the host early, and make the rest of it path, query or fragment.
  if (/[\s/\\?#@]/.test(host) || !url.startsWith('/')) return false;
  // Without a host the adapter takes the local address.
  return URL.canParse(`http://${host === '' ? 'localhost' : host}${url}`);
}

function badRequest(message: string): Refusal {
  return { status: 400, code: 'BAD_REQUEST', message, retryable: false };
}
