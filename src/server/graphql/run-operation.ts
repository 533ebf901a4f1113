// Runs an operation, on the fast path and through Yoga: checks the token and the limits, and makes the context. Then
// accepted-operation.ts waits for its turn, and the executor (src/server/execution) executes it.

import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { RunningMutations } from '../../concurrency/running-mutations.ts';
import type { Tenant } from '../../concurrency/tenant.ts';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import { createCallLog } from '../../rest/client/call-log.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { Operation } from '../document-syntax/operation.ts';
import type { Execute } from '../execution/executor.ts';
import type { LoadShedder } from '../http/load-shedding.ts';
import { bearerOf } from '../http/request-checks.ts';
import type { Limits } from '../limits/limits.ts';
import { createOperationLimits } from '../limits/operation-limits.ts';
import { RateLimit } from '../limits/rate-limit.ts';
import {
  type AcceptedOperation,
  RestOperation,
  type RunState,
  SchemaOperation,
} from './accepted-operation.ts';
import { Admission } from './admission.ts';
import {
  type ContextOptions,
  createContextFactory,
  type OperationContext,
  type SharedState,
} from './operation-context.ts';
import type { OperationRequest } from './operation-request.ts';
import { QuerySharing } from './query-sharing.ts';
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
  loadShedder: LoadShedder;
  /** Whether REST has accepted the token within an hour. */
  isAccepted: (tenant: Tenant) => boolean;
  /** The maximum number of concurrent GraphQL requests. */
  requestsAtOnce: number;
  /** The budget of response bytes that no client has taken yet. */
  unreadBytesAtOnce: number;
  /** The points that each token gets per second. 0: no rate limit. */
  pointsPerSecond: number;
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
  readonly callLog = createCallLog();

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
    admission: new Admission({ ...options, maxNodes: limits.nodes }),
    rateLimit: options.pointsPerSecond > 0 ? new RateLimit(options.pointsPerSecond) : undefined,
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
    return context === undefined
      ? new SchemaOperation(request, runState.admission)
      : new RestOperation(context, nodes, operation, request, runState);
  }

  return (operation, request) => {
    const accepted = prepare(operation, request);
    if ('refusal' in accepted) return Promise.resolve(accepted.refusal);
    return accepted.run(() => execute(operation, accepted.context));
  };
}
