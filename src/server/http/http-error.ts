import type { ServerResponse } from 'node:http';
import type { ClientError } from './client-error.ts';
import { fixedHeaders } from './response-headers.ts';

/** A request that is answered with an error before anything of it is run. */
export interface HttpError extends ClientError {
  status: number;
  /** Of an error that is masked. */
  requestId?: string | undefined;
  /** Names the access token that is missing, and whatever else belongs to the status. */
  headers?: Readonly<Record<string, string>>;
}

/** Is told of what was refused before it was a request of any route. `status` is undefined where nothing was said. */
export type OnHttpError = (refused: { requestId?: string; status: number | undefined; code: string }) => void;

export const notFoundError: HttpError = {
  status: 404,
  code: 'BAD_REQUEST',
  message: 'There is nothing at this address: the graph is at "/graphql".',
  retryable: false,
};

/** The body of a refusal, of the same form as a GraphQL answer. */
export function httpErrorBody({
  status: _status,
  headers: _headers,
  message,
  ...extensions
}: HttpError): string {
  return JSON.stringify({ errors: [{ message, extensions }] });
}

/** The headers of a refusal itself; those of every answer are not among them. */
export function httpErrorHeaders(httpError: HttpError): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' };
  if (httpError.status === 401) headers['www-authenticate'] = 'Bearer';
  if (httpError.retryAfterMs !== undefined) {
    headers['retry-after'] = String(Math.ceil(httpError.retryAfterMs / 1000));
  }
  return { ...headers, ...httpError.headers };
}

/** For a request by another method than these. */
export function methodNotAllowed(allow: string): HttpError {
  const message = `Nothing is done here by this method: use one of ${allow}.`;
  return { status: 405, code: 'BAD_REQUEST', message, retryable: false, headers: { allow } };
}

/** Answers with a refusal on Node's own response, and ends the connection, as nobody reads the body. */
export function writeHttpError(
  response: ServerResponse,
  httpError: HttpError,
  requestId?: string | undefined,
): void {
  const body = httpErrorBody(httpError);
  response.writeHead(httpError.status, {
    ...fixedHeaders,
    ...httpErrorHeaders(httpError),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}
