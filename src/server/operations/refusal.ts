import { type ExecutionResult, GraphQLError } from 'graphql';
import { type HttpError, overloaded, retryAfterSeconds } from '../http/http-error.ts';

/** The result of an operation that did not run, with the HTTP status and headers for Yoga. */
export function refuse({ status, message, headers, ...extensions }: HttpError): ExecutionResult {
  const { retryAfterMs } = extensions;
  const retryAfter = retryAfterMs === undefined ? {} : { 'retry-after': retryAfterSeconds(retryAfterMs) };
  // With `spec`, clients that accept `application/json` get the status 200.
  const http = { status, headers: { ...retryAfter, ...headers }, spec: status !== 401 && status !== 503 };
  return { errors: [new GraphQLError(message, { extensions: { ...extensions, http } })] };
}

/** The error of an operation that did not run because there is too much to do. */
export function didNotRun(reason: string): HttpError {
  return overloaded(`The operation did not run: ${reason} Try again soon.`);
}

export const clientGone: HttpError = {
  status: 499,
  code: 'REQUEST_ABORTED',
  message: 'The client closed the connection before the operation ran.',
  retryable: false,
};
