import { type ExecutionResult, GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { WaybillError } from '../../rest/errors.ts';
import type { Report } from '../../telemetry/error-report.ts';
import { type ClientError, toClientError, truncateMessage } from '../http/client-error.ts';

/** Translates errors for clients, and tells of those that it masks once it is known whose request they are of. */
export interface MaskedErrors {
  /** The error as a client gets it. */
  mask(error: unknown): GraphQLError;
  /** Reports what is behind an error, and gives it the request's id, by which the log can be searched. */
  report(clientError: GraphQLError, requestId: string): void;
}

/** The library translates an error without saying whose request it is of; the answer that holds it is. */
export function createMaskedErrors(report: Report): MaskedErrors {
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

/** Gives the errors of validation the form of all others. Yoga masks what is thrown and executed, and not these. */
export function validationErrors(report: (error: unknown) => void): Plugin {
  return {
    onExecutionResult({ result, setResult }) {
      // A list of results is Yoga's for batches and a stream is a subscription's; there are neither.
      if (result === undefined || !('errors' in result) || result.errors === undefined) return;
      const clientError = (error: GraphQLError) =>
        error.extensions.retryable === undefined ? toGraphQLError(error, report) : error;
      setResult({ ...result, errors: result.errors.map(clientError) });
    },
  };
}

/** A result whose errors stand in the order of their paths, so that equal queries always answer alike. */
export function withOrderedErrors<Result extends ExecutionResult>(result: Result): Result {
  const { errors } = result;
  return errors === undefined || errors.length < 2
    ? result
    : { ...result, errors: errors.toSorted(comparePaths) };
}

/** Part by part: indexes by their number, names by their letters, and what is above before what is below. */
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
 * An error of a GraphQL operation as the one that a client gets: ours translated, GraphQL's own about the document and
 * the variables as they are, and everything else masked. `report` is told of what is masked.
 */
export function toGraphQLError(error: unknown, report: (error: unknown) => void): GraphQLError {
  const cause = rootCause(error);
  if (cause instanceof WaybillError) return graphQLError(toClientError(cause), error);
  // A field with a value that GraphQL can't give out: all values are REST's, so it is what REST sent that is wrong.
  if (isGraphQLError(cause) || cause instanceof Error) {
    if (completionErrorMessage.test(cause.message) && pathOf(error) !== undefined) {
      const message = `REST sent no usable value for the field at ${pathOf(error)?.join('.')}.`;
      return graphQLError({ message, code: 'UPSTREAM_INVALID_RESPONSE', retryable: false }, error);
    }
  }
  if (isGraphQLError(error) && isGraphQLError(cause)) {
    const { code = cause.extensions.code ?? 'BAD_USER_INPUT' } = error.extensions;
    // What else it carries may quote the request.
    return locatedLike(error.message, error, { code, retryable: false, ...httpExtensionOf(error) });
  }
  // Outside of any field, what recurses is parsing, validating and compiling, each as deep as the document goes.
  if (isStackOverflow(cause) && pathOf(error) === undefined) {
    const http = { status: 400 };
    return new GraphQLError('The document is nested too deeply.', {
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

/** An error in the place of another one. */
function locatedLike(
  message: string,
  { nodes, source, positions, path }: GraphQLError,
  extensions: GraphQLErrorExtensions,
): GraphQLError {
  return new GraphQLError(truncateMessage(message), { nodes, source, positions, path, extensions });
}

/** Codes of what is refused for more than what GraphQL itself says of it. */
const codesWithOwnStatus = new Set<unknown>(['BAD_REQUEST', 'GRAPHQL_LIMIT_EXCEEDED']);

/** What the server is to make of an error's response; it reads `http` and leaves it out of the body. */
function httpExtensionOf({ extensions: { http, code } }: GraphQLError): GraphQLErrorExtensions {
  if (typeof http !== 'object' || http === null) return {};
  // Without `spec` the status stands for clients of all kinds; with it, those that accept `application/json` get 200.
  return { http: codesWithOwnStatus.has(code) ? { ...http, spec: false } : http };
}

function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}

function pathOf(error: unknown): readonly (string | number)[] | undefined {
  return isGraphQLError(error) ? error.path : undefined;
}

/** By name, as packages may bring a class of their own. */
function isGraphQLError(error: unknown): error is GraphQLError {
  return error instanceof Error && error.name === 'GraphQLError';
}

function rootCause(error: unknown): unknown {
  let cause = error;
  while (isGraphQLError(cause) && cause.originalError !== undefined) cause = cause.originalError;
  return cause;
}
