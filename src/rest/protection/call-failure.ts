import { errors as undiciErrors } from 'undici';
import { describeCall, isRead, type RestCall } from '../call.ts';
import { failureCode, isRefusedByProxy } from '../connection-pools.ts';
import {
  AbortedError,
  DeadlineError,
  ForeignRecordError,
  InvalidResponseError,
  isUnreadable,
  NotNeededError,
  OperationDeadlineError,
  OutcomeUnknownError,
  StatusError,
  UnavailableError,
  WaybillError,
} from '../errors.ts';
import { isOfGateway } from '../gateway-statuses.ts';
import type { CallOutcome } from './circuit-breaker.ts';

/** Converts any error of a call into a WaybillError. `isSent`: whether any part of the request may have been sent. */
export function toFailure(call: RestCall, error: unknown, isSent: boolean): WaybillError {
  if (error instanceof StatusError) return error;
  const failure = error instanceof WaybillError ? error : networkFailure(describeCall(call), error);
  return isSent && !isRefusedByProxy(error) ? failureAfterSend(call, failure) : failure;
}

/** The error for a call that failed after the request was sent. The outcome of a write is then unknown. */
export function failureAfterSend(call: RestCall, failure: WaybillError): WaybillError {
  if (isRead(call)) return failure;
  const detail =
    failure instanceof ForeignRecordError ? 'the response belongs to another request' : lossOf(failure);
  return new OutcomeUnknownError(`${describeCall(call)} was sent, but ${detail}`, { cause: failure });
}

function lossOf(failure: WaybillError): string {
  return isUnreadable(failure) ? 'its response cannot be read' : 'its response was lost';
}

/** Why a call failed, in one word if possible, without private texts: a status, `timeout`, or the code of an error. */
export function failureReason(error: unknown): string {
  const failure = error instanceof OutcomeUnknownError ? error.cause : error;
  if (failure instanceof StatusError) return String(failure.status);
  if (failure instanceof DeadlineError || failure instanceof AbortedError) return 'timeout';
  if (failure instanceof InvalidResponseError) return 'unreadable response';
  return failureCode(failure instanceof WaybillError ? failure.cause : failure);
}

/** The circuit breaker counts an aborted call as failed if no response arrived within this time. */
const hangsAfterMs = 1_500;

/**
 * Classifies a failed call for the circuit breaker. `silentMs`: how long the call had waited for the response head
 * when the call ended; 0 if the response head had arrived.
 */
export function toOutcome(error: unknown, silentMs: number): CallOutcome {
  const failure = error instanceof OutcomeUnknownError ? error.cause : error;
  if (failure instanceof AbortedError) return hasHung(failure, silentMs) ? 'failed' : 'aborted';
  if (failure instanceof StatusError) return isFailure(failure.status) ? 'failed' : 'answered';
  if (failure instanceof UnavailableError || failure instanceof DeadlineError) return 'failed';
  // Otherwise `beforeWrite` has refused the write, so nothing was sent.
  return isUnreadable(failure) ? 'answered' : 'aborted';
}

/** 501 is no failure: REST is available, but does not implement the request. */
function isFailure(status: number): boolean {
  return isOfGateway(status) || (status >= 500 && status !== 501);
}

function hasHung(error: AbortedError, silentMs: number): boolean {
  // The operation finished without the call, so no client waited for a missing response.
  if (error.cause instanceof NotNeededError) return false;
  // If the operation timeout is short, half of the timeout counts as hanging.
  const timeoutMs = error instanceof OperationDeadlineError ? error.timeoutMs : Number.POSITIVE_INFINITY;
  return silentMs >= Math.min(hangsAfterMs, timeoutMs / 2);
}

function networkFailure(name: string, error: unknown): WaybillError {
  if (error instanceof undiciErrors.HTTPParserError) {
    // Without a cause: the cause holds the response bytes, which may not be fit for a log.
    return new InvalidResponseError(`${name} returned no valid HTTP response`);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code';
  if (/^(Z_|ERR__ERROR_|ERR_BROTLI)/.test(code)) {
    return new InvalidResponseError(`${name} returned a body that cannot be decompressed`, {
      cause: error,
    });
  }
  return new UnavailableError(`${name} got no response (${failureCode(error)})`, { cause: error });
}

/** Whether the address lookup or the connection failed. With several addresses, all connections must have failed. */
export function isConnectFailure(error: unknown): boolean {
  if (error instanceof undiciErrors.ConnectTimeoutError) return true;
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure);
  return (
    error instanceof Error && 'syscall' in error && /^(connect|getaddrinfo)$/.test(String(error.syscall))
  );
}
