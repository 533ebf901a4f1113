import { ConfigError } from '../config/config.ts';
import { TrustedDocumentsError } from '../server/documents/trusted-documents.ts';

/** A setting is well-formed but cannot be used. */
export function unusableSetting(problem: string, cause: unknown): ConfigError {
  return new ConfigError(`${problem}. ${cause instanceof Error ? cause.message : cause}.`, { cause });
}

/** A worker could not start. The message is the worker's own error text. */
export class WorkerStartError extends Error {
  override readonly name = 'WorkerStartError';
}

/** @returns undefined if the error is a bug, which no operator can fix */
export function operatorErrorMessage(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof WorkerStartError) return error.message;
  return error instanceof TrustedDocumentsError ? `OPERATIONS_FILE: ${error.message}` : undefined;
}
