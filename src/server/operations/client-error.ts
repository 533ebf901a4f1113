import { InvalidCursorError } from '../../loaders/paging/cursor.ts';
import { DocumentsBusyError, PdfProcessError } from '../../printing/errors.ts';
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
import { gatewayFailure } from '../../rest/gateway-statuses.ts';
import { KeysFullError } from '../../writes/idempotency.ts';
import { MerchantUnknownError } from '../../writes/merchant.ts';
import { ClaimLostError, StoreUnavailableError } from '../../writes/store/key-store.ts';
import { ResponseTooLongError } from '../execution/response-size.ts';
import { type ClientError, overloadRetryAfterMs } from '../http/http-error.ts';

/** Errors of this server's own parts, which may work again soon. */
const overloads = [StoreUnavailableError, ClaimLostError, DocumentsBusyError, PdfProcessError];

/** Converts any error for clients. An unknown error becomes INTERNAL_SERVER_ERROR without its message. */
export function toClientError(error: unknown): ClientError {
  if (error instanceof StatusError) return fromStatusError(error);
  const message = error instanceof Error ? error.message : '';
  const clientError = (code: string, retryable = false) => ({ message, code, retryable });
  if (error instanceof BadInputError) return clientError('BAD_USER_INPUT');
  if (error instanceof ResponseTooLongError) return clientError('GRAPHQL_LIMIT_EXCEEDED');
  if (error instanceof InvalidCursorError) return clientError('INVALID_CURSOR');
  if (error instanceof MissingBearerError) return clientError('UNAUTHENTICATED');
  if (error instanceof UnavailableError) return clientError('UPSTREAM_UNAVAILABLE', true);
  if (error instanceof DeadlineError) return clientError('UPSTREAM_TIMEOUT', true);
  if (error instanceof InvalidResponseError) return clientError('UPSTREAM_INVALID_RESPONSE');
  if (error instanceof ResponseTooLargeError) return clientError('UPSTREAM_RESPONSE_TOO_LARGE');
  if (error instanceof BudgetExceededError) return clientError('UPSTREAM_BUDGET_EXCEEDED');
  if (error instanceof CircuitOpenError)
    return { ...clientError('UPSTREAM_CIRCUIT_OPEN', true), retryAfterMs: error.retryAfterMs };
  if (overloads.some((kind) => error instanceof kind))
    return { ...clientError('OVERLOADED', true), retryAfterMs: overloadRetryAfterMs };
  if (error instanceof MerchantUnknownError) return clientError('UPSTREAM_UNAVAILABLE', true);
  if (error instanceof KeysFullError) return clientError('RATE_LIMITED');
  if (error instanceof OperationDeadlineError) return clientError('DEADLINE_EXCEEDED', true);
  if (error instanceof AbortedError) return clientError('REQUEST_ABORTED');
  return { message: 'Something went wrong in this server.', code: 'INTERNAL_SERVER_ERROR', retryable: false };
}

function fromStatusError(error: StatusError): ClientError {
  const { status, isRead, details, retryAfterMs } = error;
  const failure = gatewayFailure(status);
  const clientError = (code: string, retryable = false): ClientError => ({
    // A REST message about the request (4xx) goes to the client. A message about a failure of REST or a gateway does not.
    message: status < 500 && failure === undefined ? error.message : error.summary,
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
  if (status === 401) return clientError('UNAUTHENTICATED');
  if (status === 403) return clientError('FORBIDDEN');
  if (status === 404 || status === 410) return clientError('NOT_FOUND');
  if (status === 409 || status === 412) return clientError('CONFLICT');
  const retryAfter = retryAfterMs !== undefined && { retryAfterMs };
  if (status === 429) return { ...clientError('RATE_LIMITED', true), ...retryAfter };
  // After a gateway error a write may still have been applied, so only reads are retryable.
  if (failure === 'unavailable')
    return { ...clientError('UPSTREAM_UNAVAILABLE', isRead), ...(isRead && retryAfter) };
  if (failure === 'timeout' && isRead) return { ...clientError('UPSTREAM_TIMEOUT', true), ...retryAfter };
  if (status < 400) return clientError('UPSTREAM_INVALID_RESPONSE');
  return clientError('UPSTREAM_ERROR');
}
