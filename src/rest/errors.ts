import { counted } from '../base/counted.ts';
import type { Cancellation } from '../concurrency/cancellation.ts';
import { describeCall, isRead, type RestCall } from './call.ts';
import { isOfGateway } from './gateway-statuses.ts';

/**
 * The base class of expected errors: of the client's input, of REST's response, or of the network.
 * Messages are for logs and developers. The server decides which message a GraphQL client gets.
 */
export abstract class WaybillError extends Error {
  override readonly name: string;

  /** Makes an error without a stack trace (docs/design/how-it-stays-fast.md#expected-errors). */
  constructor(message?: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      super(message, options);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    this.name = new.target.name;
  }
}

/** The client's input is invalid. Found before any call to REST. */
export class BadInputError extends WaybillError {}

/** The request has no access token, or one that cannot be sent (`isAccessToken`). */
export class MissingBearerError extends WaybillError {}

/** A field that REST rejected, with REST's name for the field. */
export interface FieldError {
  path: string;
  message: string;
  /** The kind of fault in capitals, such as `TOO_LONG`, if REST names one. */
  code?: string;
}

/** The readable parts of an error response's body. The interface does not define them ("Errors"). */
export interface ErrorDetails {
  message?: string;
  /** The kind of error in capitals, such as `FAILED_PRECONDITION`, if REST names one. */
  code?: string;
  fields: FieldError[];
}

/** REST responded with a status other than 2xx. */
export class StatusError extends WaybillError {
  /** The message without REST's own text, such as `GET /v1/orders/7 returned 503`. */
  readonly summary: string;
  /** Whether the failed call was a read. */
  readonly isRead: boolean;
  readonly status: number;
  readonly details: ErrorDetails;
  readonly retryAfterMs: number | undefined;

  constructor(call: RestCall, status: number, details: ErrorDetails, retryAfterMs?: number) {
    const summary = `${describeCall(call)} returned ${status}`;
    super(details.message === undefined ? summary : `${summary}: ${details.message}`);
    this.summary = summary;
    this.isRead = isRead(call);
    this.status = status;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

/** REST refused parameters of a list that it has never accepted: the settings of their names are probably wrong. */
export class ParameterRefusedError extends StatusError {
  constructor(call: RestCall, { status, details }: StatusError, settings: readonly string[]) {
    const advice = `Check the setting${settings.length > 1 ? 's' : ''} ${settings.join(', ')}`;
    const reason = reasonOf(details);
    const message = `The REST service has never accepted a call with these parameters. ${advice}.${reason}`;
    super(call, status, { ...details, message });
  }
}

/** REST refused a page token of a client's cursor, which may have expired. */
export class PageTokenRefusedError extends StatusError {
  constructor(call: RestCall, { status, details }: StatusError) {
    const message = `The cursor is no longer valid. Start again without "after".${reasonOf(details)}`;
    super(call, status, { ...details, message });
  }
}

/** The text of REST, as the end of a message. */
function reasonOf({ message }: ErrorDetails): string {
  return message === undefined ? '' : ` The REST service says: ${message}`;
}

/** REST's response to a read does not fit the REST interface. */
export class InvalidResponseError extends WaybillError {}

/** The response is a record whose name has another form than the REST interface says. */
export class UnexpectedNameError extends InvalidResponseError {}

/** The response has a record of another request. Nothing may show, keep or log the record. */
export class ForeignRecordError extends InvalidResponseError {}

/** REST's response to a read is larger than the server accepts. */
export class ResponseTooLargeError extends WaybillError {}

/** REST did not respond: the connection failed to open, or broke. */
export class UnavailableError extends WaybillError {}

/** The response was not complete within the timeout of the call. */
export class DeadlineError extends WaybillError {}

/** A call was not sent because the operation has used up one of its budgets. */
export abstract class BudgetExceededError extends WaybillError {}

/** The call was not sent because the operation has used its read budget. */
export class ReadBudgetExceededError extends BudgetExceededError {
  constructor(call: RestCall, maxReads: number) {
    super(
      `${describeCall(call)} was not sent: an operation may make at most ${counted(maxReads, 'REST read')}. Request less data per operation.`,
    );
  }
}

/** The call was aborted because its operation was aborted. */
export class AbortedError extends WaybillError {}

/** The call or operation was aborted because the operation's deadline has passed. */
export class OperationDeadlineError extends AbortedError {
  readonly timeoutMs: number;

  /** `what` names the call or operation that was running or waiting after `timeoutMs` milliseconds. */
  constructor(what: string, timeoutMs: number) {
    super(`${what} did not finish within the time limit of ${timeoutMs} ms for operations`);
    this.timeoutMs = timeoutMs;
  }
}

/** The abort reason of calls that the operation no longer needs. A client may still wait for its result. */
export class NotNeededError extends WaybillError {}

/** The call was not sent because the circuit breaker of its route is open. */
export class CircuitOpenError extends WaybillError {
  /** Milliseconds until the client should retry. */
  readonly retryAfterMs: number;

  constructor(call: RestCall, retryAfterMs: number) {
    super(`${describeCall(call)} was not sent: most of the recent calls of this kind failed`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A write was sent, but its response never arrived or cannot be read. REST may or may not have done the write. */
export class OutcomeUnknownError extends WaybillError {
  /** Whether a search for the record that the write may have created found no record. */
  readonly wasNotFound: boolean;

  constructor(message: string, options: ErrorOptions & { wasNotFound?: boolean } = {}) {
    super(message, options);
    this.wasNotFound = options.wasNotFound ?? false;
  }
}

/**
 * Whether REST may have done a write despite this error. REST has not done a write that was rejected or never sent.
 * Any other outcome is unknown. A gateway may have forwarded the write (gateway-statuses.ts). A redirect may follow a
 * success.
 */
export function mayHaveHappened(error: unknown): boolean {
  if (!(error instanceof StatusError))
    return error instanceof OutcomeUnknownError || !(error instanceof WaybillError);
  const { status } = error;
  const isRejected = status >= 400 && status <= 499 && !isOfGateway(status);
  return !error.isRead && !isRejected;
}

const withStatus =
  (...statuses: number[]) =>
  (error: unknown): error is StatusError =>
    error instanceof StatusError && statuses.includes(error.status);

/** Whether REST rejected the access token. */
export const isUnauthenticated = withStatus(401);

/** Whether the record does not exist, or no longer exists. */
export const isNotFound = withStatus(404, 410);

/** Whether the current state of the record does not allow the request. */
export const isConflict = withStatus(409, 412);

/** Whether REST rejected the content (400, 422) or the size (413) of the request. */
export const isRejectedInput = withStatus(400, 413, 422);

/** Whether REST responded, but the response cannot be used. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof InvalidResponseError || error instanceof ResponseTooLargeError;
}

/** The error of a call whose signal has aborted. */
export function abortedError(call: RestCall, { reason }: Cancellation): AbortedError {
  const name = describeCall(call);
  if (reason instanceof OperationDeadlineError) return new OperationDeadlineError(name, reason.timeoutMs);
  return new AbortedError(`${name} was aborted`, { cause: reason });
}

/** The error of a call that broke because this server ends. */
export function closedError(call: RestCall): AbortedError {
  return new AbortedError(`${describeCall(call)} was aborted, because this server ends`);
}

/** Whether an error is about the operation that made a call. Then another operation may make the same call. */
export function isOfOneOperation(error: unknown): boolean {
  return error instanceof AbortedError || error instanceof BudgetExceededError;
}

/** The abort reason of a GraphQL operation that has ended. */
export const operationEnded = new NotNeededError('the operation no longer needs the response');

/** The abort reason of a GraphQL operation that took longer than `timeoutMs` milliseconds. */
export function operationTimeout(timeoutMs: number): OperationDeadlineError {
  return new OperationDeadlineError('The operation', timeoutMs);
}
