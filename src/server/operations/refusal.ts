import { type ExecutionResult, GraphQLError } from 'graphql';
import { type HttpError, retryAfterSeconds } from '../http/http-error.ts';

/** The result of an operation that did not run, with the HTTP status and headers for Yoga. */
export function refusalOf(httpError: HttpError): ExecutionResult {
  return { errors: [refusalError(httpError)] };
}

/** The error of an operation that did not run. */
export function refusalError({ status, message, headers: _headers, ...extensions }: HttpError): GraphQLError {
  const { retryAfterMs } = extensions;
  const headers = retryAfterMs === undefined ? {} : { 'retry-after': retryAfterSeconds(retryAfterMs) };
  // With `spec`, clients that accept `application/json` get the status 200. An overloaded server is 503 for all.
  const http = { status, headers, spec: status !== 503 };
  return new GraphQLError(message, { extensions: { ...extensions, http } });
}

/** The result of an operation whose client has gone before the operation ran. */
export function clientGone(): ExecutionResult {
  return refusalOf({
    status: 499,
    code: 'REQUEST_ABORTED',
    message: 'The client closed the connection before the operation ran.',
    retryable: false,
  });
}
