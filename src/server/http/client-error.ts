import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import {
  AbortedError,
  BadInputError,
  BudgetExceededError,
  CircuitOpenError,
  DeadlineError,
  InvalidResponseError,
  MissingBearerError,
  OperationDeadlineError,
  OverloadedError,
  type RefusedField,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
  WaybillError,
} from '../../rest/errors.ts';
import { shortMessage } from '../limits/truncate-errors.ts';

/** Everything that a client is told of an error. Nothing else of it leaves the server. */
export interface ClientError {
  message: string;
  code: string;
  /** Whether the same request may succeed when sent again. */
  retryable: boolean;
  retryAfterMs?: number;
  upstreamStatus?: number;
  fields?: readonly RefusedField[];
}

/** What a client is told of an error of any kind; what is not known to be fit for clients is masked. */
export function toClientError(error: unknown): ClientError {
  if (error instanceof StatusError) return ofStatus(error);
  const told = (code: string, retryable = false) => ({ message: (error as Error).message, code, retryable });
  if (error instanceof BadInputError) return told('BAD_USER_INPUT');
  if (error instanceof MissingBearerError) return told('UNAUTHENTICATED');
  if (error instanceof UnavailableError) return told('UPSTREAM_UNAVAILABLE', true);
  if (error instanceof DeadlineError) return told('UPSTREAM_TIMEOUT', true);
  if (error instanceof InvalidResponseError) return told('UPSTREAM_INVALID_RESPONSE');
  if (error instanceof ResponseTooLargeError) return told('UPSTREAM_RESPONSE_TOO_LARGE');
  if (error instanceof BudgetExceededError) return told('UPSTREAM_BUDGET_EXCEEDED');
  if (error instanceof CircuitOpenError) {
    return { ...told('UPSTREAM_CIRCUIT_OPEN', true), retryAfterMs: error.retryAfterMs };
  }
  if (error instanceof OverloadedError) return told('OVERLOADED', true);
  if (error instanceof OperationDeadlineError) return told('DEADLINE_EXCEEDED', true);
  if (error instanceof AbortedError) return told('REQUEST_ABORTED');
  return { message: 'Something went wrong in this server.', code: 'INTERNAL_SERVER_ERROR', retryable: false };
}

function ofStatus(error: StatusError): ClientError {
  const { status, isRead, refusal, retryAfterMs } = error;
  const told = (code: string, retryable = false): ClientError => ({
    // REST's own words are for the client where they are about the request, and not where REST itself has failed.
    message: status < 500 ? error.message : error.summary,
    code,
    retryable,
    upstreamStatus: status,
  });
  if (status === 400 || status === 422) {
    return { ...told('BAD_USER_INPUT'), ...(refusal.fields.length > 0 ? { fields: refusal.fields } : {}) };
  }
  if (status === 401) return told('UNAUTHENTICATED');
  if (status === 403) return told('FORBIDDEN');
  if (status === 404 || status === 410) return told('NOT_FOUND');
  if (status === 409 || status === 412) return told('CONFLICT');
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429) return { ...told('RATE_LIMITED', true), ...wait };
  // A gateway's word that REST was not there says of a write nothing for certain.
  if (status === 502 || status === 503) {
    return { ...told('UPSTREAM_UNAVAILABLE', isRead), ...(isRead ? wait : {}) };
  }
  if (status < 400) return told('UPSTREAM_INVALID_RESPONSE');
  return told('UPSTREAM_ERROR');
}

const completionFault =
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
    if (completionFault.test(cause.message) && pathOf(error) !== undefined) {
      const message = `REST sent no usable value for the field at ${pathOf(error)?.join('.')}.`;
      return graphQLError({ message, code: 'UPSTREAM_INVALID_RESPONSE', retryable: false }, error);
    }
  }
  if (isGraphQLError(error) && isGraphQLError(cause)) {
    const { code = cause.extensions.code ?? 'BAD_USER_INPUT' } = error.extensions;
    // What else it carries may quote the request.
    return located(error.message, error, { code, retryable: false, ...responseOf(error) });
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
    ? located(message, error, extensions)
    : new GraphQLError(shortMessage(message), { extensions });
}

/** An error in the place of another one. */
function located(
  message: string,
  { nodes, source, positions, path }: GraphQLError,
  extensions: GraphQLErrorExtensions,
): GraphQLError {
  return new GraphQLError(shortMessage(message), { nodes, source, positions, path, extensions });
}

/** Codes of what is refused for more than what GraphQL itself says of it. */
const refusals = new Set<unknown>(['BAD_REQUEST', 'GRAPHQL_LIMIT_EXCEEDED']);

/** What the server is to make of an error's response; it reads `http` and leaves it out of the body. */
function responseOf({ extensions: { http, code } }: GraphQLError): GraphQLErrorExtensions {
  if (typeof http !== 'object' || http === null) return {};
  // Without `spec` the status stands for clients of all kinds; with it, those that accept `application/json` get 200.
  return { http: refusals.has(code) ? { ...http, spec: false } : http };
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
