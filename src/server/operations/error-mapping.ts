import { type ExecutionResult, GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { truncateMessage } from '../../base/truncate-message.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import { createFastError } from '../execution/fast-error.ts';
import { toClientError } from './client-error.ts';

/**
 * The result as clients see it. Errors about the document and its variables keep their messages. Unknown errors are
 * masked, and reported. Errors are sorted by path, so that equal queries get equal responses.
 */
export function toClientResult(
  result: ExecutionResult,
  requestId: string,
  report: ReportError,
): ExecutionResult {
  const { errors } = result;
  if (errors === undefined) return result;
  const mapped = errors.map((error) => mapError(error, requestId, report));
  return { ...result, errors: mapped.sort(comparePaths) };
}

/** Compares paths key by key: indexes as numbers, names as strings. A parent comes before its children. */
function comparePaths({ path = [] }: GraphQLError, { path: otherPath = [] }: GraphQLError): number {
  for (const [index, part] of path.entries()) {
    const otherPart = otherPath[index];
    if (otherPart === undefined) return 1;
    if (part === otherPart) continue;
    if (typeof part === 'number' && typeof otherPart === 'number') return part - otherPart;
    return String(part) < String(otherPart) ? -1 : 1;
  }
  return path.length - otherPath.length;
}

function mapError(error: GraphQLError, requestId: string, report: ReportError): GraphQLError {
  const { path, extensions } = error;
  // The error of a refused operation is for clients already.
  if (extensions.retryable !== undefined) return error;
  const cause = rootCause(error);
  if (cause instanceof GraphQLError) {
    const { code = cause.extensions.code ?? 'BAD_USER_INPUT' } = extensions;
    // Only the known extensions: others may quote the request.
    return locatedLike(error, error.message, { code, retryable: false, ...httpExtension(error) });
  }
  // Outside fields, only parsing, validation and compilation recurse. Their depth is that of the document.
  const isStackOverflow = cause instanceof RangeError && cause.message === 'Maximum call stack size exceeded';
  if (isStackOverflow && path === undefined) {
    const http = { status: 400 };
    return new GraphQLError('The document or its variables are nested too deeply.', {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false, http },
    });
  }
  const { message, ...clientExtensions } = toClientError(cause);
  if (clientExtensions.code !== 'INTERNAL_SERVER_ERROR')
    return locatedLike(error, message, { ...clientExtensions });
  report(cause, requestId);
  return locatedLike(error, message, { ...clientExtensions, requestId });
}

function locatedLike(
  { nodes, locations, path }: GraphQLError,
  message: string,
  extensions: GraphQLErrorExtensions,
): GraphQLError {
  return createFastError({ message: truncateMessage(message), nodes, locations, path, extensions });
}

// These errors keep their HTTP status even for `application/json`.
const codesWithOwnStatus = new Set<unknown>(['BAD_REQUEST', 'GRAPHQL_LIMIT_EXCEEDED']);

/** The HTTP status and headers of an error. Yoga removes the extension from the body. */
function httpExtension({ extensions: { http, code } }: GraphQLError): GraphQLErrorExtensions {
  if (typeof http !== 'object' || http === null) return {};
  // Without `spec: false`, clients that accept `application/json` get the status 200.
  return { http: codesWithOwnStatus.has(code) ? { ...http, spec: false } : http };
}

function rootCause(error: GraphQLError): unknown {
  let cause: unknown = error;
  while (cause instanceof GraphQLError && cause.originalError !== undefined) cause = cause.originalError;
  return cause;
}
