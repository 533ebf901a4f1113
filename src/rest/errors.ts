import type { Cancellation } from '../concurrency/cancellation.ts';
import { described, isRead, type RestCall } from './call.ts';

/**
 * What can go wrong, in three families: what the client sent, what REST answered, what the network did.
 * The text is for a log or a developer; what a client of the graph sees is decided in one place, in the server.
 */
export abstract class WaybillError extends Error {
  abstract override readonly name: string;

  /**
   * Without a trace of the stack: these are expected, and say what happened. V8's trace holds whatever the functions on the way
   * there know of for as long as the error is kept, and takes up to 80 µs.
   */
  constructor(message?: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      super(message, options);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/** The client sent something that can't be right, found before any call. */
export class BadInputError extends WaybillError {
  override readonly name = 'BadInputError';
}

/** The request bears no access token, or not one of RFC 6750's form. */
export class MissingBearerError extends WaybillError {
  override readonly name = 'MissingBearerError';
}

/** One field that REST refused, named as REST names it. */
export interface FieldError {
  path: string;
  message: string;
}

/** What the body of a refusal said, as far as it could be read. */
export interface ErrorDetails {
  message?: string;
  fields: FieldError[];
}

/** REST answered with a status other than 2xx. */
export class StatusError extends WaybillError {
  override readonly name = 'StatusError';
  /** What happened without REST's own words: `GET /v1/orders/7 answered 503`. */
  readonly summary: string;
  /** Whether the call was one that changes nothing. */
  readonly isRead: boolean;
  readonly status: number;
  readonly details: ErrorDetails;
  readonly retryAfterMs: number | undefined;

  constructor(call: RestCall, status: number, details: ErrorDetails, retryAfterMs?: number) {
    const summary = `${described(call)} answered ${status}`;
    super(details.message === undefined ? summary : `${summary}: ${details.message}`);
    this.summary = summary;
    this.isRead = isRead(call);
    this.status = status;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

/** REST answered a read with something that its interface does not describe. */
export class InvalidResponseError extends WaybillError {
  override readonly name = 'InvalidResponseError';
}

/** REST's answer to a read is larger than this server is willing to hold. */
export class ResponseTooLargeError extends WaybillError {
  override readonly name = 'ResponseTooLargeError';
}

/** No answer came: the connection could not be made, or broke. */
export class UnavailableError extends WaybillError {
  override readonly name = 'UnavailableError';
}

/** No whole answer came within the deadline of the call. */
export class DeadlineError extends WaybillError {
  override readonly name = 'DeadlineError';
}

/** The operation has made as many calls as it may, so that this one was not made. */
export class BudgetExceededError extends WaybillError {
  override readonly name = 'BudgetExceededError';

  constructor(call: RestCall, maxReads: number) {
    super(
      `${described(call)} was not made: an operation makes at most ${maxReads} reads. Ask for less at once.`,
    );
  }
}

/** The caller gave up, so the call was ended. */
export class AbortedError extends WaybillError {
  override readonly name: string = 'AbortedError';
}

/** The caller gave up as its operation has had all the time that it may take. */
export class OperationDeadlineError extends AbortedError {
  override readonly name = 'OperationDeadlineError';
  readonly timeoutMs: number;

  /** `what` was still under way, or still waiting, after `timeoutMs` milliseconds. */
  constructor(what: string, timeoutMs: number) {
    super(`${what} was given up: an operation may take ${timeoutMs} ms, which have passed`);
    this.timeoutMs = timeoutMs;
  }
}

/** Why calls are given up whose answers are not needed any more, though somebody still waits for what they were for. */
export class NotNeededError extends WaybillError {
  override readonly name = 'NotNeededError';
}

/** Calls of this kind have failed for so many that this one was not made. */
export class CircuitOpenError extends WaybillError {
  override readonly name = 'CircuitOpenError';
  /** When it is worth trying again. */
  readonly retryAfterMs: number;

  constructor(call: RestCall, retryAfterMs: number) {
    super(`${described(call)} was not made: most calls of its kind have failed just now`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Too many calls wait for their turn already, so that this one was not made. */
export class OverloadedError extends WaybillError {
  override readonly name = 'OverloadedError';

  /** `waiting` calls of `whose` wait, and no more may. */
  constructor(waiting: number, whose: 'all tokens' | 'this token') {
    super(
      `A call to REST was not made: ${waiting} of ${whose} wait for their turn, and no more may. Try again later.`,
    );
  }
}

/** A write was sent, and its answer never came or cannot be read: it may have happened or not. */
export class OutcomeUnknownError extends WaybillError {
  override readonly name = 'OutcomeUnknownError';
  /** Whether what it may have made was looked for, and not found. */
  readonly wasNotFound: boolean;

  constructor(message: string, options: ErrorOptions = {}, wasNotFound = false) {
    super(message, options);
    this.wasNotFound = wasNotFound;
  }
}

/**
 * Whether a write that failed may have been done all the same. What REST refused or what never left was not. Of all else
 * nobody knows: a gateway says 502, 503 or 504 of what it has handed on too, and a redirect may follow on a success.
 */
export function mayHaveHappened(error: unknown): boolean {
  if (error instanceof StatusError) return !error.isRead && !isRefusal(error.status);
  return error instanceof OutcomeUnknownError || !(error instanceof WaybillError);
}

/**
 * Whether an error is one that every other call of the same caller would meet now as well. An open circuit is none: a list
 * and its records have one each.
 */
export function isMetByAllCalls(error: unknown): error is WaybillError {
  if (error instanceof StatusError) return error.status === 401 || error.status === 429;
  return error instanceof OverloadedError || error instanceof OperationDeadlineError;
}

/** Whether REST has turned down a request, and not only given up on it (408, and 499 as some proxies have it). */
function isRefusal(status: number): boolean {
  return status >= 400 && status <= 499 && status !== 408 && status !== 499;
}

/** Whether REST said that it does not take the bearer (401). */
export function isUnauthenticated(error: unknown): error is StatusError {
  return error instanceof StatusError && error.status === 401;
}

/** Whether REST said that there is no such record (404), or no longer (410). */
export function isNotFound(error: unknown): error is StatusError {
  return error instanceof StatusError && (error.status === 404 || error.status === 410);
}

/** Whether REST said that the present state does not allow it (409, or 412 for a condition that was sent along). */
export function isConflict(error: unknown): error is StatusError {
  return error instanceof StatusError && (error.status === 409 || error.status === 412);
}

/** Whether REST found fault with what it was sent: its content (400, 422) or its size (413). */
export function isRejectedInput(error: unknown): error is StatusError {
  return error instanceof StatusError && [400, 413, 422].includes(error.status);
}

/** The error of a call whose caller has given up. */
export function abortedError(call: RestCall, { reason }: Cancellation): AbortedError {
  const name = described(call);
  if (reason instanceof OperationDeadlineError) return new OperationDeadlineError(name, reason.timeoutMs);
  return new AbortedError(`${name} was given up by its caller`, { cause: reason });
}

/** Why the scope of a GraphQL operation aborts its signals. */
export const operationScopeErrors = {
  done: new NotNeededError('what it was wanted for is done'),
  timeout: (timeoutMs: number) => new OperationDeadlineError('The operation', timeoutMs),
};
