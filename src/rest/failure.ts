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
  if (call.method !== 'GET' && isSent) {
    return new OutcomeUnknownError(`${described(call)} was sent, but no whole answer came`, { cause: error });
  }
  if (gaveUp) return error;
  if (error instanceof undiciErrors.BodyTimeoutError) {
    return new DeadlineError(`${described(call)} stopped in the middle of its answer`, { cause: error });
  }
  if (error instanceof undiciErrors.HTTPParserError) {
    return new InvalidResponseError(`${described(call)} answered something that is not HTTP`, {
      cause: error,
    });
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
  return new UnavailableError(`${described(call)} got no answer (${code})`, { cause: error });
}
