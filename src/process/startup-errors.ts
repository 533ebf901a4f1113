import { ConfigError } from '../config/config.ts';
import { TrustedDocumentsError } from '../server/documents/trusted-documents.ts';

/** The fault of a setting that only using it shows. */
export function unusableSetting(fault: string, cause: unknown): ConfigError {
  return new ConfigError(`${fault}. ${cause instanceof Error ? cause.message : cause}.`, { cause });
}

/** A worker could not start; the message is what it said of that. */
export class WorkerStartError extends Error {
  override readonly name = 'WorkerStartError';
}

/** What the operator is told of an error that keeps the server from starting; undefined where it is the server's own fault. */
export function operatorErrorMessage(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof WorkerStartError) return error.message;
  return error instanceof TrustedDocumentsError ? `OPERATIONS_FILE: ${error.message}` : undefined;
}
