import { InvalidCursorError } from '../../loaders/paging/cursor.ts';
import {
  AbortedError,
  BadInputError,
  BudgetExceededError,
  CircuitOpenError,
  DeadlineError,
  InvalidResponseError,
  MissingBearerError,
  OperationDeadlineError,
  PageTokenRefusedError,
  ParameterRefusedError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
} from '../../rest/errors.ts';
import { KeysFullError } from '../../writes/idempotency.ts';
import { MerchantUnknownError } from '../../writes/merchant.ts';
import { ClaimLostError, StoreUnavailableError } from '../../writes/store/key-store.ts';
import { type ClientError, overloadRetryAfterMs } from '../http/http-error.ts';

/** The codes of errors by their classes. True: retryable. */
const codes: readonly [errorClass: new (...args: never) => Error, code: string, retryable: boolean][] = [
  [BadInputError, 'BAD_USER_INPUT', false],
  [InvalidCursorError, 'INVALID_CURSOR', false],
  [MissingBearerError, 'UNAUTHENTICATED', false],
  [UnavailableError, 'UPSTREAM_UNAVAILABLE', true],
  [DeadlineError, 'UPSTREAM_TIMEOUT', true],
  [InvalidResponseError, 'UPSTREAM_INVALID_RESPONSE', false],
  [ResponseTooLargeError, 'UPSTREAM_RESPONSE_TOO_LARGE', false],
  [BudgetExceededError, 'UPSTREAM_BUDGET_EXCEEDED', false],
  [CircuitOpenError, 'UPSTREAM_CIRCUIT_OPEN', true],
  [StoreUnavailableError, 'OVERLOADED', true],
  [ClaimLostError, 'OVERLOADED', true],
  [MerchantUnknownError, 'UPSTREAM_UNAVAILABLE', true],
  [KeysFullError, 'RATE_LIMITED', false],
  [OperationDeadlineError, 'DEADLINE_EXCEEDED', true],
  [AbortedError, 'REQUEST_ABORTED', false],
];

/** Converts any error for clients. An unknown error becomes INTERNAL_SERVER_ERROR without its message. */
export function toClientError(error: unknown): ClientError {
  if (error instanceof StatusError) return fromStatusError(error);
  for (const [errorClass, code, retryable] of codes) {
    if (!(error instanceof errorClass)) continue;
    const { message } = error;
    if (error instanceof CircuitOpenError)
      return { message, code, retryable, retryAfterMs: error.retryAfterMs };
    if (code === 'OVERLOADED') return { message, code, retryable, retryAfterMs: overloadRetryAfterMs };
    return { message, code, retryable };
  }
  return { message: 'Something went wrong in this server.', code: 'INTERNAL_SERVER_ERROR', retryable: false };
}

const codesByStatus: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  410: 'NOT_FOUND',
  412: 'CONFLICT',
};

function fromStatusError(error: StatusError): ClientError {
  const { status, isRead, details, retryAfterMs } = error;
  const clientError = (code: string, retryable = false): ClientError => ({
    // A REST message about the request (4xx) goes to the client. A message about a failure of REST (5xx) does not.
    message: status < 500 ? error.message : error.summary,
    code,
    retryable,
    upstreamStatus: status,
  });
  if (error instanceof ParameterRefusedError) return clientError('UPSTREAM_INVALID_RESPONSE');
  if (error instanceof PageTokenRefusedError) return clientError('INVALID_CURSOR');
  if (status === 400 || status === 422) {
    const fields = details.fields.map(({ path, message }) => ({ path, message }));
    return { ...clientError('BAD_USER_INPUT'), ...(fields.length > 0 && { fields }) };
  }
  const retryAfter = retryAfterMs !== undefined && { retryAfterMs };
  if (status === 429) return { ...clientError('RATE_LIMITED', true), ...retryAfter };
  // After a gateway error a write may still have been applied, so only reads are retryable.
  if (status === 502 || status === 503)
    return { ...clientError('UPSTREAM_UNAVAILABLE', isRead), ...(isRead && retryAfter) };
  // A gateway got no response from REST in time.
  if (status === 504 && isRead) return { ...clientError('UPSTREAM_TIMEOUT', true), ...retryAfter };
  if (status < 400) return clientError('UPSTREAM_INVALID_RESPONSE');
  return clientError(codesByStatus[status] ?? 'UPSTREAM_ERROR');
}
