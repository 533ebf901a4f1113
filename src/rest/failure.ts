import { errors as undiciErrors } from 'undici';
import { described, type RestCall } from './call.ts';
import {
  AbortedError,
  DeadlineError,
  InvalidResponseError,
  OutcomeUnknownError,
  UnavailableError,
  WaybillError,
} from './errors.ts';

/** What a call's failure is to those who asked. `isSent`: whether any of a write has left for REST. */
export function failureOf(call: RestCall, error: unknown, isSent: boolean): WaybillError {
  const gaveUp = error instanceof AbortedError || error instanceof DeadlineError;
  const isAnswered = error instanceof WaybillError && !gaveUp;
  if (isAnswered) return error;
  const failure = gaveUp ? error : networkFailure(described(call), error);
  if (call.method === 'GET' || !isSent) return failure;
  return new OutcomeUnknownError(`${described(call)} was sent, but no whole answer came`, { cause: failure });
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
