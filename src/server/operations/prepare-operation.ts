// Runs an operation, on the fast path and through Yoga: checks the token and the limits, and makes the context. Then
// run-operation.ts waits for its turn, and the executor (src/server/execution) executes it.

import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { RunningMutations } from '../../concurrency/running-mutations.ts';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import { CallLog } from '../../rest/client/call-log.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { Operation } from '../document-syntax/operation.ts';
import type { DocumentCache } from '../documents/document-cache.ts';
import type { Execute } from '../execution/executor.ts';
import { bearerOf } from '../http/request-checks.ts';
import type { Limits } from '../limits/limits.ts';
import { createOperationLimits } from '../limits/operation-limits.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import type { Admission } from './admission.ts';
import {
  type ContextOptions,
  createContextFactory,
  type OperationContext,
  type SharedState,
} from './operation-context.ts';
import type { OperationRequest } from './operation-request.ts';
import { QuerySharing } from './query-sharing.ts';
import { type AcceptedOperation, RestOperation, type RunState, SchemaOperation } from './run-operation.ts';
import { needsRest, unauthenticated } from './token-requirement.ts';

/**
 * Runs an operation of a valid document, or refuses it: by its access token, the limits, or the load of this server.
 * @returns the result. Without `data` if the operation did not run. It rejects only by an error of this server.
 */
export type RunOperation = (operation: Operation, request: OperationRequest) => Promise<ExecutionResult>;

export interface OperationRunnerOptions {
  schema: GraphQLSchema;
  execute: Execute;
  limits: Limits;
  documents: DocumentCache;
  admission: Admission;
  /** Undefined: no rate limit. */
  rateLimit: RateLimit | undefined;
  shared: SharedState;
  context: ContextOptions;
  /** Tracks mutations, so that a shutdown can wait for them. Undefined: mutations are not tracked. */
  mutations: RunningMutations | undefined;
  tracing: Tracing | undefined;
}

/** The call context of an operation without REST calls. The tenant is a costly hash that only the log needs. */
class OfflineCallContext implements Pick<CallContext, 'tenant' | 'callLog'> {
  readonly #bearer: string;
  readonly #callContexts: CallContexts;
  readonly callLog = new CallLog();

  constructor(bearer: string, callContexts: CallContexts) {
    this.#bearer = bearer;
    this.#callContexts = callContexts;
  }

  get tenant() {
    return this.#callContexts.tenantOf(this.#bearer);
  }
}

/** Creates the function that the fast path and Yoga share. */
export function createOperationRunner(options: OperationRunnerOptions): RunOperation {
  const { schema, limits, execute, tracing } = options;
  const { check } = createOperationLimits(schema, limits);
  const createContext = createContextFactory(options.shared, options.context);
  const runState: RunState = {
    sharing: new QuerySharing(),
    mutations: options.mutations,
    admission: options.admission,
    rateLimit: options.rateLimit,
  };

  /** Records an operation and its tenant, and checks the access token and the limits. Makes no REST calls. */
  function prepare(
    operation: Operation,
    request: OperationRequest,
  ): AcceptedOperation | { refusal: ExecutionResult } {
    const { document, definition } = operation;
    const { requestRecord } = request;
    if (requestRecord !== undefined) requestRecord.operation = definition;
    const bearer = bearerOf(request.headers);
    let context: OperationContext | undefined;
    if (needsRest(definition, document)) {
      if (typeof bearer !== 'string') return { refusal: unauthenticated(bearer) };
      context = createContext(bearer, request);
    }
    if (requestRecord !== undefined) {
      requestRecord.callContext =
        context ??
        (typeof bearer === 'string'
          ? new OfflineCallContext(bearer, options.shared.callContexts)
          : undefined);
      tracing?.begin(requestRecord, request.headers);
    }
    const nodes = check(operation);
    if (typeof nodes !== 'number') return { refusal: { errors: [nodes] } };
    if (context === undefined) return new SchemaOperation(nodes, request, runState.admission);
    // Anybody can make up a token, so only accepted ones protect documents from eviction.
    if (context.owner.connection === undefined) options.documents.promote(document);
    return new RestOperation(context, nodes, operation, request, runState);
  }

  return (operation, request) => {
    const accepted = prepare(operation, request);
    if ('refusal' in accepted) return Promise.resolve(accepted.refusal);
    return accepted.run(() => execute(operation, accepted.context));
  };
}
