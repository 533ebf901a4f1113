import { type ExecutionResult, GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { WaybillError } from '../../rest/errors.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import { createFastError } from '../execution/fast-error.ts';
import { type ClientError, toClientError, truncateMessage } from '../http/client-error.ts';

/** Maps errors for clients. Masked errors are reported later, when their request is known. */
export interface ErrorMasker {
  /** The error as clients see it. */
  mask(error: unknown): GraphQLError;
  /** Reports the original error if `clientError` masks one, and adds the request id to its extensions. */
  report(clientError: GraphQLError, requestId: string): void;
}

/** Creates an `ErrorMasker`. Masking and reporting are two steps because Yoga masks errors without their request. */
export function createErrorMasker(report: ReportError): ErrorMasker {
  const causes = new WeakMap<GraphQLError, { cause: unknown }>();
  return {
    mask(error) {
      const masked: { cause: unknown }[] = [];
      const clientError = toGraphQLError(error, (cause) => masked.push({ cause }));
      for (const entry of masked) causes.set(clientError, entry);
      return clientError;
    },
    report(clientError, requestId) {
      const entry = causes.get(clientError);
      if (entry === undefined) return;
      causes.delete(clientError);
      clientError.extensions.requestId = requestId;
      report(entry.cause, requestId);
    },
  };
}

/** Masks the errors of a result. */
export function withMaskedErrors(result: ExecutionResult, { mask }: ErrorMasker): ExecutionResult {
  return result.errors === undefined ? result : { ...result, errors: result.errors.map(mask) };
}

/** Yoga plugin: maps validation errors for clients. Yoga itself masks only errors that are thrown or executed. */
export function validationErrors(report: (error: unknown) => void): Plugin {
  return {
    onExecutionResult({ result, setResult }) {
      // The server has no batches (lists of results) and no subscriptions (streams).
      if (result === undefined || !('errors' in result) || result.errors === undefined) return;
      const clientError = (error: GraphQLError) =>
        error.extensions.retryable === undefined ? toGraphQLError(error, report) : error;
      setResult({ ...result, errors: result.errors.map(clientError) });
    },
  };
}

/** Sorts the errors of a result in place by path, so that equal queries get equal responses. */
export function withOrderedErrors<Result extends ExecutionResult>(result: Result): Result {
  // Both executors make an array for each result. Requests that share a result sort it once more.
  (result.errors as GraphQLError[] | undefined)?.sort(comparePaths);
  return result;
}

/** Compares paths key by key: indexes as numbers, names as strings. A parent comes before its children. */
function comparePaths(
  { path: firstPath = [] }: GraphQLError,
  { path: secondPath = [] }: GraphQLError,
): number {
  for (const [index, firstPart] of firstPath.entries()) {
    const secondPart = secondPath[index];
    if (secondPart === undefined) return 1;
    if (firstPart === secondPart) continue;
    if (typeof firstPart === 'number' && typeof secondPart === 'number') return firstPart - secondPart;
    return String(firstPart) < String(secondPart) ? -1 : 1;
  }
  return firstPath.length - secondPath.length;
}

const completionErrorMessage =
  /^(Cannot return null for non-nullable field|Expected Iterable|\w+ cannot represent|Enum )/;

/**
 * Maps an error of a GraphQL operation to the error for the client. Errors of this server are translated. GraphQL's
 * errors about the document and its variables keep their messages. All other errors are masked.
 * @param report called with the original of each masked error.
 */
function toGraphQLError(error: unknown, report: (error: unknown) => void): GraphQLError {
  // An operation that was refused before its start. Its error is for clients already.
  if (isGraphQLError(error) && error.extensions.retryable === true && 'http' in error.extensions)
    return error;
  const cause = rootCause(error);
  if (cause instanceof WaybillError) return graphQLError(toClientError(cause), error);
  // The value of a field could not be completed. All values come from REST, so the REST response is invalid.
  if (isGraphQLError(cause) || cause instanceof Error) {
    if (completionErrorMessage.test(cause.message) && pathOf(error) !== undefined) {
      const message = `REST sent no usable value for the field at ${pathOf(error)?.join('.')}.`;
      return graphQLError({ message, code: 'UPSTREAM_INVALID_RESPONSE', retryable: false }, error);
    }
  }
  if (isGraphQLError(error) && isGraphQLError(cause)) {
    const { code = cause.extensions.code ?? 'BAD_USER_INPUT' } = error.extensions;
    // Only the known extensions: others may quote the request.
    return locatedLike(error.message, error, { code, retryable: false, ...httpExtensionOf(error) });
  }
  // Outside fields, only parsing, validation and compilation recurse. Their depth is that of the document.
  if (isStackOverflow(cause) && pathOf(error) === undefined) {
    const http = { status: 400 };
    return new GraphQLError('The document or its variables are nested too deeply.', {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false, http },
    });
  }
  report(cause);
  return graphQLError(toClientError(cause), error);
}

function graphQLError({ message, ...extensions }: ClientError, error: unknown): GraphQLError {
  return isGraphQLError(error)
    ? locatedLike(message, error, extensions)
    : new GraphQLError(truncateMessage(message), { extensions });
}

/** Creates an error with the location and path of another error. */
function locatedLike(
  message: string,
  { nodes, locations, path }: GraphQLError,
  extensions: GraphQLErrorExtensions,
): GraphQLError {
  return createFastError({ message: truncateMessage(message), nodes, locations, path, extensions });
}

/** Codes of errors that keep their HTTP status even for `application/json`. */
const codesWithOwnStatus = new Set<unknown>(['BAD_REQUEST', 'GRAPHQL_LIMIT_EXCEEDED']);

/** The extension `http` of an error, with the HTTP status and headers for Yoga. Yoga removes it from the body. */
function httpExtensionOf({ extensions: { http, code } }: GraphQLError): GraphQLErrorExtensions {
  if (typeof http !== 'object' || http === null) return {};
  // With `spec`, clients that accept `application/json` get the status 200. Otherwise all clients get this status.
  return { http: codesWithOwnStatus.has(code) ? { ...http, spec: false } : http };
}

function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}

function pathOf(error: unknown): readonly (string | number)[] | undefined {
  return isGraphQLError(error) ? error.path : undefined;
}

/** Compares the name because packages may load another copy of the class. */
function isGraphQLError(error: unknown): error is GraphQLError {
  return error instanceof Error && error.name === 'GraphQLError';
}

function rootCause(error: unknown): unknown {
  let cause = error;
  while (isGraphQLError(cause) && cause.originalError !== undefined) cause = cause.originalError;
  return cause;
}
