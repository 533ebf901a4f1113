import { ConfigError } from '../config/config.ts';
import { TrustedDocumentsError } from '../server/documents/trusted-documents.ts';

/** A setting is well-formed but cannot be used. */
export function unusableSetting(problem: string, cause: unknown): ConfigError {
  return new ConfigError(`${problem}. ${cause instanceof Error ? cause.message : cause}.`, { cause });
}

/** @returns undefined if the error is a bug, which no operator can fix */
export function operatorErrorMessage(error: unknown): string | undefined {
  if (error instanceof ConfigError) return error.message;
  return error instanceof TrustedDocumentsError ? `OPERATIONS_FILE: ${error.message}` : undefined;
}
