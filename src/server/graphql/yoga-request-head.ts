import { contentCodings } from '../../base/coding-names.ts';
import { isJson, namesJson, responseType } from '../http/content-negotiation.ts';
import { type HttpError, rejection } from '../http/http-error.ts';
import type { HeaderReader } from '../http/http-types.ts';
import { bodyTooLarge } from '../http/request-body.ts';
import { acceptedStream } from '../live/transport.ts';

/** Browsers send a preflight before a cross-origin request with any of these headers. */
const preflightHeaders = [
  'authorization',
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-apollo-operation-name',
];

/** Checks the head of a GraphQL request, before its body is read. @returns the error, if there is one. */
export function checkRequestHead(
  method: 'GET' | 'POST',
  headers: HeaderReader,
  maxBodyBytes: number,
): HttpError | undefined {
  const error =
    method === 'POST' ? checkPost(headers, maxBodyBytes) : (checkWebSocket(headers) ?? checkCsrf(headers));
  const accept = headers.get('accept');
  // The errors of a stream that cannot be opened are JSON.
  const isAcceptable = responseType(accept) !== undefined || acceptedStream(accept) !== undefined;
  return error ?? (isAcceptable ? undefined : notAcceptable);
}

const notAcceptable = rejection(
  406,
  'UNSUPPORTED_MEDIA_TYPE',
  'Responses are JSON in UTF-8. Send the header "accept: application/json".',
);

/** Rejects a WebSocket. Other upgrades, such as `h2c`, are ignored, as HTTP allows. */
function checkWebSocket(headers: HeaderReader): HttpError | undefined {
  if (!/\bwebsocket\b/i.test(headers.get('upgrade') ?? '')) return undefined;
  const message =
    'WebSockets are not supported. Send operations by POST as JSON. The response to a subscription is an HTTP stream.';
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
    const message = 'The body must be JSON in UTF-8. Send the header "content-type: application/json".';
    return rejection(415, 'UNSUPPORTED_MEDIA_TYPE', message);
  }
  if (contentCodings(headers.get('content-encoding')).length > 0) {
    const message =
      'Compressed bodies are not supported. Send the body without the header "content-encoding".';
    return rejection(415, 'UNSUPPORTED_MEDIA_TYPE', message);
  }
  const length = headers.get('content-length');
  return length !== null && Number(length) > maxBodyBytes ? bodyTooLarge(maxBodyBytes) : undefined;
}
