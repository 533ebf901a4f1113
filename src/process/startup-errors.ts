import { ConfigError } from '../config/config.ts';
import { TrustedDocumentsError } from '../server/documents/trusted-documents.ts';

/** Creates the error of a setting that is well-formed but cannot be used. */
export function unusableSetting(problem: string, cause: unknown): ConfigError {
  return new ConfigError(`${problem}. ${cause instanceof Error ? cause.message : cause}.`, { cause });
}

/** A worker could not start. The message is the worker's own error text. */
export class WorkerStartError extends Error {
  override readonly name = 'WorkerStartError';
}

/** Returns the message of an error that the operator can fix; undefined if the error is a bug. */
export function operatorErrorMessage(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof WorkerStartError) return error.message;
  return error instanceof TrustedDocumentsError ? `OPERATIONS_FILE: ${error.message}` : undefined;
}
