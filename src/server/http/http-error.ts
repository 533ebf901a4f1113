import type { ServerResponse } from 'node:http';
import type { FieldError } from '../../rest/errors.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
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

/** Within a second, a server that is only busy finishes some of its requests, operations and calls of REST. */
export const overloadRetryAfterMs = 1_000;

/** The error response to a request that is rejected before its operation runs. */
export interface HttpError extends ClientError {
  status: number;
  /** Present only if the error is masked, for the search in the log. */
  requestId?: string | undefined;
  /** Additional response headers that belong to the status, such as `allow`. */
  headers?: Readonly<Record<string, string>>;
}

/** Called for each error before a request reaches a route. `status` is undefined if no response was sent. */
export type OnHttpError = (error: { requestId?: string; status: number | undefined; code: string }) => void;

/** The error for an unknown path. */
export const notFoundError: HttpError = {
  status: 404,
  code: 'BAD_REQUEST',
  message: 'This path does not exist. The GraphQL endpoint is "/graphql".',
  retryable: false,
};

/** The error for a request that is malformed or contradicts itself. */
export function badRequest(message: string): HttpError {
  return { status: 400, code: 'BAD_REQUEST', message, retryable: false };
}

/** The error for a request that the server, or its token, has no room for now. */
export function overloaded(message: string): HttpError {
  return { status: 503, code: 'OVERLOADED', message, retryable: true, retryAfterMs: overloadRetryAfterMs };
}

/** The value of the header `retry-after`, in whole seconds. */
export function retryAfterSeconds(retryAfterMs: number): string {
  return String(Math.ceil(retryAfterMs / 1000));
}

/** The JSON body of an error response, in the form of a GraphQL response. */
export function httpErrorBody({
  status: _status,
  headers: _headers,
  message,
  ...extensions
}: HttpError): string {
  return JSON.stringify({ errors: [{ message, extensions }] });
}

/** The headers of an error response, without the headers that all responses have. */
export function httpErrorHeaders(httpError: HttpError): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' };
  if (httpError.status === 401) headers['www-authenticate'] = 'Bearer';
  if (httpError.retryAfterMs !== undefined) {
    headers['retry-after'] = retryAfterSeconds(httpError.retryAfterMs);
  }
  return { ...headers, ...httpError.headers };
}

/** The error for a method that the route does not support. `allow` is the value of the `allow` header. */
export function methodNotAllowed(allow: string): HttpError {
  const message = `Method not allowed. Use one of ${allow}.`;
  return { status: 405, code: 'BAD_REQUEST', message, retryable: false, headers: { allow } };
}

/** Writes an error response to Node's response and closes the connection, because no handler reads the body. */
export function writeHttpError(
  response: ServerResponse,
  httpError: HttpError,
  requestId?: string | undefined,
): void {
  const body = httpErrorBody(httpError);
  response.shouldKeepAlive = false;
  response.writeHead(httpError.status, {
    ...fixedHeaders,
    ...httpErrorHeaders(httpError),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Creates the handler that counts early errors and logs each at level debug. */
export function reportEarlyErrors(log: Log, metrics: Metrics | undefined): OnHttpError {
  return ({ requestId, status, code }) => {
    metrics?.earlyError(status);
    if (log.isLevelEnabled('debug')) log.debug({ requestId, status, errors: { [code]: 1 } }, 'refused');
  };
}
