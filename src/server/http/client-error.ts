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
} from '../../rest/errors.ts';

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

// Longer ones quote long names and values from the request, or many conflicts.
export const maxMessageCharacters = 1_000;

/** A message as far as it is shown. */
export function shortMessage(message: string): string {
  return message.length > maxMessageCharacters ? `${message.slice(0, maxMessageCharacters)}…` : message;
}
