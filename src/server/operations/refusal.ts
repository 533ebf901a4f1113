import { type ExecutionResult, GraphQLError } from 'graphql';
import { type HttpError, overloaded, rejection, statusHeaders } from '../http/http-error.ts';

/** The result of an operation that did not run, with the HTTP status and headers for Yoga. */
export function refuse(httpError: HttpError): ExecutionResult {
  const { status, message, headers: _headers, ...extensions } = httpError;
  // With `spec`, clients that accept `application/json` get the status 200.
  const spec = !ownStatuses.has(status);
  const http = { status, headers: statusHeaders(httpError), spec };
  return { errors: [new GraphQLError(message, { extensions: { ...extensions, http } })] };
}

/** Clients and proxies act on these. */
const ownStatuses = new Set([401, 405, 406, 503]);

/** The error of an operation that did not run because there is too much to do. */
export function didNotRun(reason: string): HttpError {
  return overloaded(`The operation did not run: ${reason} Try again soon.`);
}

export const clientGone = rejection(
  499,
  'REQUEST_ABORTED',
  'The client closed the connection before the operation ran.',
);
