import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { RunningMutations } from '../../concurrency/running-mutations.ts';
import type { RequestRecord } from '../../telemetry/request-record.ts';
import type { Operation } from '../document-syntax/valid-operation.ts';
import type { Execute } from '../execution/executor.ts';
import type { HeaderReader } from '../http/http-types.ts';
import type { RateLimit } from '../limits/points-bucket.ts';
import type { Admission } from './admission.ts';

/** The HTTP request of an operation, on the fast path or through Yoga. */
export interface OperationRequest {
  readonly headers: HeaderReader;
  /** Undefined if the request is not recorded. */
  readonly requestRecord: RequestRecord | undefined;
  readonly response: ServerResponse;
  /** Calls `listener` with the reason when the client disconnects, or at once if the client has disconnected. */
  onAbort(listener: (reason: unknown) => void): void;
}

/** What the operations of a process share. */
export interface SharedParts {
  execute: Execute;
  admission: Admission;
  rateLimit: RateLimit | undefined;
  mutations: RunningMutations;
}

/**
 * Takes the result of an operation: without `data` if the operation did not run, rejected only by an error of this server.
 * Not a promise that also lives while the operation waits for its slot: V8 keeps the results of long-lived promises
 * until a full collection. Yoga still has such promises.
 */
export type Respond = (result: Promise<ExecutionResult>) => void;

/** The least weight: an operation without nodes takes as long as these. */
export const minWeight = 10;

/** An operation within the limits, and who gets its result. */
export interface PreparedOperation {
  operation: Operation;
  /** Its weight: the objects and rows of its response at most, and 10 for each write and each label of a document. */
  nodes: number;
  request: OperationRequest;
  respond: Respond;
}
