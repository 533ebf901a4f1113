import type { IncomingMessage } from 'node:http';
import { MissingBearerError } from '../../rest/errors.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import { badRequest, type HttpError, rejection } from './http-error.ts';
import { isJson, namesJson, responseType } from './media-types.ts';

/** Browsers send a preflight before a cross-origin request with any of these headers. */
const preflightHeaders = [
  'authorization',
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-apollo-operation-name',
];

/** Checks the head of a GraphQL request, before its body is read. @returns the error, if there is one. */
export function checkRequestHead(
  method: string,
  headers: HeaderReader,
  maxBodyBytes: number,
): HttpError | undefined {
  if (method !== 'POST' && method !== 'GET') return undefined;
  const error =
    method === 'POST' ? checkPost(headers, maxBodyBytes) : (checkWebSocket(headers) ?? checkCsrf(headers));
  return error ?? (responseType(headers.get('accept')) === undefined ? notAcceptable : undefined);
}

const notAcceptable = rejection(
  406,
  'UNSUPPORTED_MEDIA_TYPE',
  'Responses are JSON in UTF-8. Send the header "accept: application/json".',
);

/** Rejects a WebSocket. Other upgrades, such as `h2c`, are ignored, as HTTP allows. */
function checkWebSocket(headers: HeaderReader): HttpError | undefined {
  if (!/\bwebsocket\b/i.test(headers.get('upgrade') ?? '')) return undefined;
  const message = 'WebSockets are not supported. Send queries and mutations by POST as JSON.';
  return rejection(501, 'BAD_REQUEST', message);
}

/** Rejects a GET that a page of another origin can send without a preflight (cross-site request forgery). */
function checkCsrf(headers: HeaderReader): HttpError | undefined {
  if (headers.get('sec-fetch-mode') === 'no-cors') {
    const message =
      'A GET query with the header "Sec-Fetch-Mode: no-cors" is rejected. In a browser, call fetch with the mode "cors".';
    return rejection(403, 'CSRF_HEADER_MISSING', message);
  }
  if (preflightHeaders.some((name) => headers.get(name))) return undefined;
  const accept = headers.get('accept');
  // Browsers always send `accept`, and elements of a page never ask for JSON.
  if (accept === null || namesJson(accept)) return undefined;
  const message =
    'A GET query needs the header "graphql-require-preflight: 1" or "accept: application/json".';
  return rejection(403, 'CSRF_HEADER_MISSING', message);
}

function checkPost(headers: HeaderReader, maxBodyBytes: number): HttpError | undefined {
  if (!isJson(headers.get('content-type'))) {
    return unsupportedMediaType(
      'The body must be JSON in UTF-8. Send the header "content-type: application/json".',
    );
  }
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    return unsupportedMediaType(
      'Compressed bodies are not supported. Send the body without the header "content-encoding".',
    );
  }
  const length = headers.get('content-length');
  return length !== null && Number(length) > maxBodyBytes ? bodyTooLarge(maxBodyBytes) : undefined;
}

function unsupportedMediaType(message: string): HttpError {
  return rejection(415, 'UNSUPPORTED_MEDIA_TYPE', message);
}

export function bodyTooLarge(maxBodyBytes: number): HttpError {
  const message = `The body exceeds the limit of ${maxBodyBytes} bytes. Send a smaller body.`;
  // The rest of the body is not read.
  return { ...rejection(413, 'REQUEST_TOO_LARGE', message), headers: { connection: 'close' } };
}

/**
 * Rejects requests that a proxy and this server may read in different ways (RFC 9112). Node uses the first of several
 * `Host` or `Authorization` headers. It accepts some transfer codings beside `chunked`, and does not decode them.
 */
export function checkAmbiguity({ headers, rawHeaders }: IncomingMessage): HttpError | undefined {
  let hosts = 0;
  let authorizations = 0;
  // Names and values alternate.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name?.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1;
  }
  if (hosts > 1) return badRequest(`The request has ${hosts} "Host" headers. Send one.`);
  if (authorizations > 1) {
    const message = `The request has ${authorizations} "Authorization" headers. Send one.`;
    return rejection(401, 'UNAUTHENTICATED', message);
  }
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
  if (headers.host === undefined && httpVersion === '1.1') {
    return badRequest('An HTTP/1.1 request needs the header "Host".');
  }
  const absoluteUrl = request.url?.startsWith('/')
    ? null
    : /^https?:\/\/([^/?#]*)(.*)$/i.exec(request.url ?? '/');
  if (absoluteUrl !== null) {
    const [, host = '', path = ''] = absoluteUrl;
    headers.host = host;
    request.url = path.startsWith('/') ? path : `/${path}`;
  }
  if (plainTarget.test(request.url ?? '') && plainHost.test(headers.host ?? '')) return undefined;
  const url = parseUrl(request);
  if (url === null) return badRequest('The header "Host" and the request target do not form a URL.');
  return isPathKept(url, request) ? undefined : ambiguousPath;
}

// Parsing a URL costs a twentieth of a small request. These targets and hosts form a URL that keeps the path.
const plainTarget = /^(?:\/\w[\w-]*)+(?:\.\w+)?(?:\?[\w=&-]*)?$/;
const plainHost = /^(?:[a-z][a-z\d-]*|127\.0\.0\.1)(?:\.[a-z][a-z\d-]*)*(?::\d{1,4})?$/;

function parseUrl({ headers: { host = '' }, url = '/' }: IncomingMessage): URL | null {
  // These characters would end the host early. The rest would become path, query or fragment.
  if (/[\s/\\?#@]/.test(host) || !url.startsWith('/')) return null;
  // Yoga uses localhost if the host is empty.
  return URL.parse(`http://${host === '' ? 'localhost' : host}${url}`);
}

const ambiguousPath = badRequest(
  'The path is ambiguous. Percent-encode it, and send no "//", "#", "\\" or segments such as "..".',
);

/** Whether routes see the path that a proxy in front sees. URL parsing resolves `..`, and takes a backslash for a slash. */
function isPathKept({ pathname }: URL, { url = '/' }: IncomingMessage): boolean {
  return !url.includes('#') && !pathname.includes('//') && pathname === url.split('?', 1)[0];
}

// The b64token of RFC 6750, with a maximum length that fits into common header size limits.
const bearer = /^Bearer +([A-Za-z0-9\-._~+/]{1,8192}=*)$/i;

/** Reads the access token ("Authentication"). @returns the error if the header is missing or malformed. */
export function readBearer(headers: HeaderReader): string | MissingBearerError {
  const header = headers.get('authorization');
  const token = header === null ? undefined : bearer.exec(header.trim())?.[1];
  if (token !== undefined) return token;
  return new MissingBearerError(
    `Expected the header "Authorization: Bearer <access token>", but ${
      header === null ? 'it is missing' : 'it has a different form'
    }.`,
  );
}
