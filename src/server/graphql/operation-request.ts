import type { DocumentNode, ExecutionResult, OperationDefinitionNode } from 'graphql';
import type { HeaderReader, RequestRecord } from '../../telemetry/request-record.ts';
import type { RawVariables } from '../limits/variable-limits.ts';

/** An operation of a valid document, with the values that were sent with it. */
export interface Operation {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly variables: RawVariables | undefined;
}

/** The request that asks for an operation, whichever way it came. */
export interface OperationRequest {
  readonly headers: HeaderReader;
  /** Undefined where nobody follows what becomes of it. */
  readonly requestRecord: RequestRecord | undefined;
  /** Has it called once the client has gone, with the reason. */
  onAbort(listener: (reason: unknown) => void): void;
}

/** Runs an operation, once it may run and has what it needs. */
export type Execute = () => ExecutionResult | Promise<ExecutionResult>;
