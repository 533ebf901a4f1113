import { errors as undiciErrors } from 'undici';
import { described, isRead, type RestCall } from './call.ts';
import {
  DeadlineError,
  InvalidResponseError,
  OutcomeUnknownError,
  ResponseTooLargeError,
  StatusError,
  UnavailableError,
  WaybillError,
} from './errors.ts';

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

function networkFailure(name: string, error: unknown): WaybillError {
  if (error instanceof undiciErrors.BodyTimeoutError) {
    return new DeadlineError(`${name} stopped in the middle of its answer`, { cause: error });
  }
  if (error instanceof undiciErrors.HTTPParserError) {
    // Without its cause, which holds what was answered: that is not known to be fit for a log.
    return new InvalidResponseError(`${name} answered something that is not HTTP`);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
  return new UnavailableError(`${name} got no answer (${code})`, { cause: error });
}
