import type { ServerResponse } from 'node:http';
import type { FieldError } from '../../rest/errors.ts';
import { fixedHeaders } from './response-headers.ts';

/** The part of an error that clients see. No other detail of an error leaves the server. */
export interface ClientError {
  message: string;
  code: string;
  /** Whether the same request may succeed if the client sends it again. */
  retryable: boolean;
  retryAfterMs?: number;
  upstreamStatus?: number;
  fields?: readonly FieldError[];
}

export interface HttpError extends ClientError {
  status: number;
  /** Present only if the error is masked, for the search in the log. */
  requestId?: string | undefined;
  headers?: Readonly<Record<string, string>>;
}

/** Called for each error before a request reaches a route. `status` is undefined if no response was sent. */
export type OnHttpError = (error: { requestId?: string; status: number | undefined; code: string }) => void;

/** The error for a request that would fail again. */
export function rejection(status: number, code: string, message: string): HttpError {
  return { status, code, message, retryable: false };
}

/** The error for a request that is malformed or contradicts itself. */
export function badRequest(message: string): HttpError {
  return rejection(400, 'BAD_REQUEST', message);
}

export const notFoundError = rejection(
  404,
  'BAD_REQUEST',
  'This path does not exist. The GraphQL endpoint is "/graphql".',
);

/** The error for another method than GET and HEAD, on a route that has only these two. */
export const methodNotAllowedError: HttpError = {
  ...rejection(405, 'BAD_REQUEST', 'Method not allowed. Use GET or HEAD.'),
  headers: { allow: 'GET, HEAD' },
};

/** Within a second, a server that is only busy finishes some of its requests, operations and calls of REST. */
export const overloadRetryAfterMs = 1_000;

/** The error for a request that the server, or its token, has no room for now. */
export function overloaded(message: string): HttpError {
  return { status: 503, code: 'OVERLOADED', message, retryable: true, retryAfterMs: overloadRetryAfterMs };
}

/** The headers that belong to the status of an error. `retry-after` is in whole seconds. */
export function statusHeaders({ status, retryAfterMs, headers }: HttpError): Record<string, string> {
  return {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }),
    ...headers,
  };
}

/** The content of an error response, which has the form of a GraphQL response. */
export function errorContent(httpError: HttpError): { body: string; headers: Record<string, string> } {
  const { status: _status, headers: _headers, message, ...extensions } = httpError;
  return {
    body: JSON.stringify({ errors: [{ message, extensions }] }),
    headers: { 'content-type': 'application/json; charset=utf-8', ...statusHeaders(httpError) },
  };
}

/** Writes an error response to Node's response and closes the connection, because no handler reads the body. */
export function writeHttpError(response: ServerResponse, httpError: HttpError, requestId?: string): void {
  const { body, headers } = errorContent(httpError);
  response.shouldKeepAlive = false;
  response.writeHead(httpError.status, {
    ...fixedHeaders,
    ...headers,
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
