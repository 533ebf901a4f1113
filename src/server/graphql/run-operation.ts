// Runs an operation, on the fast path and through Yoga. Checks the token and the limits, makes the context, and shares
// equal queries. The next step is compiled-queries.ts for queries, and Yoga's executor for all other operations.

import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import { createCallLog } from '../../rest/client/call-log.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { Operation } from '../document-syntax/operation.ts';
import { bearerOf } from '../http/request-checks.ts';
import type { Limits } from '../limits/limits.ts';
import { createOperationLimits } from '../limits/operation-limits.ts';
import { withCost } from './cost-report.ts';
import { withOrderedErrors } from './error-mapping.ts';
import {
  type ContextOptions,
  createContextFactory,
  type OperationContext,
  type SharedState,
} from './operation-context.ts';
import type { Execute, OperationRequest } from './operation-request.ts';
import { type InFlightQuery, QuerySharing } from './query-sharing.ts';
import type { RunningMutations } from './running-mutations.ts';
import { needsRest, unauthenticated } from './token-requirement.ts';

/** Checks and runs operations of valid documents, for the fast path and for Yoga. */
export interface OperationRunner {
  /** Records an operation and its tenant, and checks the access token and the limits. Makes no REST calls. */
  prepare(operation: Operation, request: OperationRequest): RejectedOperation | AcceptedOperation;
}

/** An operation that must not run. */
export interface RejectedOperation {
  rejection: ExecutionResult;
}

/** An operation that may run. */
export interface AcceptedOperation {
  /** The context value of the resolvers. */
  context: object;
  /** Runs the operation by `execute`, or returns the result of an equal query that is already running. */
  run(execute: Execute): Promise<ExecutionResult>;
}

/** What `createOperationRunner` needs. */
export interface OperationRunnerOptions {
  schema: GraphQLSchema;
  limits: Limits;
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

/** An operation that needs only the schema, such as an introspection. */
const operationWithoutRest: AcceptedOperation = { context: {}, run: async (execute) => execute() };

/** An operation that makes REST calls. A class: closures and async functions would cost several times as much. */
class RestOperation implements AcceptedOperation {
  readonly context: OperationContext;
  readonly #operation: Operation;
  readonly #request: OperationRequest;
  readonly #sharing: QuerySharing;
  readonly #mutations: RunningMutations | undefined;
  /** Set while other requests may join the query. */
  #inFlight: InFlightQuery | undefined;

  constructor(
    context: OperationContext,
    operation: Operation,
    request: OperationRequest,
    sharing: QuerySharing,
    mutations: RunningMutations | undefined,
  ) {
    this.context = context;
    this.#operation = operation;
    this.#request = request;
    this.#sharing = sharing;
    this.#mutations = mutations;
  }

  run(execute: Execute): Promise<ExecutionResult> {
    const { scope, callLog, showsCost } = this.context;
    const instrumentedExecute = showsCost ? async () => withCost(await execute(), callLog) : execute;
    scope.startTimeout();
    try {
      return this.#executeOrJoin(instrumentedExecute).then(
        (result) => {
          this.#finish();
          return withOrderedErrors(result);
        },
        (error: unknown) => {
          this.#finish();
          throw error;
        },
      );
    } catch (error) {
      this.#finish();
      return Promise.reject(error);
    }
  }

  get #isQuery(): boolean {
    return this.#operation.definition.operation === 'query';
  }

  #executeOrJoin(execute: Execute): Promise<ExecutionResult> {
    if (!this.#isQuery) {
      // A mutation that has started is finished even if its client disconnects.
      const mutation = Promise.resolve(execute());
      return this.#mutations?.track(mutation) ?? mutation;
    }
    const { tenant, scope, showsCost } = this.context;
    const key = this.#sharing.keyOf(this.#operation, showsCost);
    if (key === undefined) return Promise.resolve(execute());
    const equalQuery = this.#sharing.find(tenant, key);
    if (equalQuery?.result !== undefined) {
      this.#request.onAbort(equalQuery.scope.addWaiter());
      if (this.#request.requestRecord !== undefined) this.#request.requestRecord.joined = true;
      return equalQuery.result;
    }
    const result = Promise.resolve(execute());
    this.#inFlight = this.#sharing.add(tenant, key, scope, result);
    return result;
  }

  #finish(): void {
    const { scope } = this.context;
    if (this.#inFlight !== undefined) this.#sharing.remove(this.#inFlight);
    // Abort the remaining calls of a query: calls below a propagated null, and prefetched pages that were not used.
    // These calls would occupy slots and delay the shutdown. The calls of a mutation are finished.
    if (this.#isQuery) scope.end();
    else scope.stopTimeout();
  }
}

/** Creates the runner that the fast path and Yoga share. */
export function createOperationRunner(options: OperationRunnerOptions): OperationRunner {
  const { schema, limits, mutations, tracing } = options;
  const { errorOf } = createOperationLimits(schema, limits);
  const createContext = createContextFactory(options.shared, options.context);
  const sharing = new QuerySharing();

  return {
    prepare(operation, request) {
      const { document, definition, variables } = operation;
      const { requestRecord } = request;
      if (requestRecord !== undefined) requestRecord.operation = definition;
      const bearer = bearerOf(request.headers);
      let context: OperationContext | undefined;
      if (needsRest(definition, document)) {
        if (typeof bearer !== 'string') return { rejection: unauthenticated(bearer) };
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
      const rejection = errorOf(document, definition.name?.value, variables);
      if (rejection !== undefined) return { rejection: { errors: [rejection] } };
      return context === undefined
        ? operationWithoutRest
        : new RestOperation(context, operation, request, sharing, mutations);
    },
  };
}
