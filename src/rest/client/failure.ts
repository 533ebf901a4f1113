import { errors as undiciErrors } from 'undici';
import { described, isRead, type RestCall } from '../call.ts';
import {
  AbortedError,
  DeadlineError,
  InvalidResponseError,
  NotNeededError,
  OperationDeadlineError,
  OutcomeUnknownError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
  WaybillError,
} from '../errors.ts';
import type { CallOutcome } from '../protection/circuit-breaker.ts';

/** What a call's failure is to those who asked. `isSent`: whether any of a write has left for REST. */
export function failureOf(call: RestCall, error: unknown, isSent: boolean): WaybillError {
  if (error instanceof StatusError) return error;
  const failure = error instanceof WaybillError ? error : networkFailure(described(call), error);
  return isSent ? failureOnceSent(call, failure) : failure;
}

/** The same for what was sent for certain, and perhaps answered. What a write has done is then not known. */
export function failureOnceSent(call: RestCall, failure: WaybillError): WaybillError {
  if (isRead(call)) return failure;
  const isAnswered = failure instanceof InvalidResponseError || failure instanceof ResponseTooLargeError;
  const what = isAnswered ? 'its answer cannot be read' : 'no whole answer came';
  return new OutcomeUnknownError(`${described(call)} was sent, but ${what}`, { cause: failure });
}

/** A call that has had no answer for so long is as good as failed, whoever ends it then. */
const hangsAfterMs = 1_500;

/**
 * What a failed call says of REST: whether it answered, whatever that was, or failed. `silentMs`: for how long nothing at
 * all had come of an answer when it ended; 0 where something had.
 */
export function outcomeOf(error: unknown, silentMs: number): CallOutcome {
  const failure = error instanceof OutcomeUnknownError ? error.cause : error;
  if (failure instanceof AbortedError) return hasHung(failure, silentMs) ? 'failed' : 'aborted';
  // 501 is an answer: REST is there, and will never do this.
  if (failure instanceof StatusError)
    return failure.status >= 500 && failure.status !== 501 ? 'failed' : 'answered';
  return failure instanceof UnavailableError || failure instanceof DeadlineError ? 'failed' : 'answered';
}

function hasHung(error: AbortedError, silentMs: number): boolean {
  // What is there without the call is no sign that clients wait in vain.
  if (error.cause instanceof NotNeededError) return false;
  // Where operations have little time, one that takes half of it.
  const timeoutMs = error instanceof OperationDeadlineError ? error.timeoutMs : Number.POSITIVE_INFINITY;
  return silentMs >= Math.min(hangsAfterMs, timeoutMs / 2);
}

function networkFailure(name: string, error: unknown): WaybillError {
  if (error instanceof undiciErrors.BodyTimeoutError) {
    return new DeadlineError(`${name} stopped in the middle of its answer`, { cause: error });
  }
  if (error instanceof undiciErrors.HTTPParserError) {
    // Without its cause, which holds what was answered: that is not known to be fit for a log.
    return new InvalidResponseError(`${name} answered something that is not HTTP`);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
  if (/^(Z_|ERR__ERROR_|ERR_BROTLI)/.test(code)) {
    return new InvalidResponseError(`${name} answered something that cannot be decompressed`, {
      cause: error,
    });
  }
  return new UnavailableError(`${name} got no answer (${code})`, { cause: error });
}
