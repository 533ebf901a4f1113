import type { ExecutionResult } from 'graphql';
import type { RunningMutations } from '../../concurrency/running-mutations.ts';
import type { Operation } from '../document-syntax/valid-operation.ts';
import type { Execute } from '../execution/executor.ts';
import type { RateLimit } from '../limits/operation-points.ts';
import type { Admission } from './admission.ts';
import type { OperationRequest } from './operation-types.ts';

/** What the operations of a process share. */
export interface RunState {
  execute: Execute;
  admission: Admission;
  rateLimit: RateLimit | undefined;
  mutations: RunningMutations;
}

/**
 * Takes the result of an operation: without `data` if the operation did not run, rejected only by an error of this server.
 * Not a promise that also waits for the turn: V8 keeps the results of long-lived promises until a full collection. Yoga
 * still has such promises.
 */
export type Respond = (result: Promise<ExecutionResult>) => void;

/** The least weight: an operation without nodes takes as long as these. */
export const minWeight = 10;

/** An operation within the limits, and who gets its result. */
export interface PreparedOperation {
  operation: Operation;
  /** The weight: see `limits/operation-limits.ts`. */
  nodes: number;
  request: OperationRequest;
  respond: Respond;
}
