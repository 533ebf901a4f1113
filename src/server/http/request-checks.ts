import type { IncomingMessage } from 'node:http';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import type { HttpError } from './http-error.ts';
import { acceptError, isJson } from './media-types.ts';

/** Any of these makes a browser ask first, unless it comes from a page of this server. */
const preflighted = [
  'authorization',
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-apollo-operation-name',
];

/**
 * What is wrong with the head of a request for a GraphQL answer, or undefined. Looks at nothing but the head, so that a
 * refusal costs no reading of the body.
 * @param maxBodyBytes how large a body may be.
 */
export function requestHeadError(
  method: string,
  headers: HeaderReader,
  maxBodyBytes: number,
): HttpError | undefined {
  if (method !== 'POST' && method !== 'GET') return undefined;
  const refused = method === 'POST' ? postError(headers, maxBodyBytes) : csrfError(headers);
  return refused ?? acceptError(headers.get('accept'));
}

/** A GET that a browser may have sent unasked, for the page of a stranger. */
function csrfError(headers: HeaderReader): HttpError | undefined {
  const isOpaque = headers.get('sec-fetch-mode') === 'no-cors';
  if (!isOpaque && (preflighted.some((name) => headers.get(name)) || namesJson(headers.get('accept')))) {
    return undefined;
  }
  return {
    status: 403,
    code: 'CSRF_HEADER_MISSING',
    message: isOpaque
      ? 'A query by GET can\'t be sent with "Sec-Fetch-Mode: no-cors".'
      : 'A query by GET needs the header "graphql-require-preflight: 1", or one that accepts "application/json".',
    retryable: false,
  };
}

/** Pages may choose what is accepted, but what they load by elements is never JSON. No browser sends nothing at all. */
function namesJson(accept: string | null): boolean {
  return accept === null || /application\/(graphql-response\+)?json/i.test(accept);
}

function postError(headers: HeaderReader, maxBodyBytes: number): HttpError | undefined {
  if (!isJson(headers.get('content-type'))) {
    return unsupported(
      'The body must be JSON in UTF-8: send it with the header "content-type: application/json".',
    );
  }
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    return unsupported('A compressed body is not taken: send it without the header "content-encoding".');
  }
  const length = headers.get('content-length');
  return length !== null && Number(length) > maxBodyBytes
    ? bodyTooLarge(maxBodyBytes, `${Number(length)} bytes`)
    : undefined;
}

function unsupported(message: string): HttpError {
  return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message, retryable: false };
}

/** @param came how much it was, as far as it is known. */
export function bodyTooLarge(maxBodyBytes: number, came: string): HttpError {
  return {
    status: 413,
    code: 'REQUEST_TOO_LARGE',
    message: `The body may have ${maxBodyBytes} bytes, but ${came} came: send less at once.`,
    retryable: false,
    // What is left of the body is not read.
    headers: { connection: 'close' },
  };
}

/**
 * Refuses several `Authorization` headers, of which Node would take the first and others the last.
 * @param rawHeaders names and values in turn, as Node has them.
 */
export function authorizationError(rawHeaders: readonly string[]): HttpError | undefined {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 13 && name.toLowerCase() === 'authorization') count += 1;
  }
  if (count <= 1) return undefined;
  return {
    status: 401,
    code: 'UNAUTHENTICATED',
    message: `Expected one header "Authorization", but ${count} came.`,
    retryable: false,
  };
}

/**
 * Why a request can't be answered for its address, or undefined. The library's adapter makes the URL of each request from
 * its header `Host` and its target, and answers one that it can't make with a stack. A target that is a whole URL, as HTTP
 * has servers take it, is turned into host and path.
 */
export function urlError(request: IncomingMessage): HttpError | undefined {
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

function badRequest(message: string): HttpError {
  return { status: 400, code: 'BAD_REQUEST', message, retryable: false };
}
