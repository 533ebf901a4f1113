import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import { createCallLog } from '../../rest/client/call-log.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { bearerOf } from '../http/bearer.ts';
import type { Limits } from '../limits/limits.ts';
import { createOperationLimits } from '../limits/operation-limits.ts';
import { needsRest, unauthenticated } from './authentication.ts';
import {
  type ContextOptions,
  createContextFactory,
  type OperationContext,
  type SharedState,
} from './context.ts';
import { withCost } from './cost-report.ts';
import { withOrderedErrors } from './error-mapping.ts';
import type { Execute, Operation, OperationRequest } from './operation-request.ts';
import { type InFlightQuery, QuerySharing } from './query-sharing.ts';
import type { RunningMutations } from './running-mutations.ts';

/** The way of every operation of a valid document, however its request came. */
export interface OperationRunner {
  /** Notes who asks for what, and says why it may not run, or how it is run. Makes no calls. */
  prepare(operation: Operation, request: OperationRequest): RejectedOperation | AcceptedOperation;
}

/** An operation that nothing is run of. */
export interface RejectedOperation {
  rejection: ExecutionResult;
}

export interface AcceptedOperation {
  /** What its resolvers are given. */
  context: object;
  /** Runs it, or has it answered by an equal one that is under way. `execute` is how. */
  run(execute: Execute): Promise<ExecutionResult>;
}

export interface OperationRunnerOptions {
  schema: GraphQLSchema;
  limits: Limits;
  shared: SharedState;
  context: ContextOptions;
  /** Where mutations are followed, for an end that waits for them; nowhere when left out. */
  mutations: RunningMutations | undefined;
  tracing: Tracing | undefined;
}

/** Who asks for what makes no calls. Whose token it is, is for the log alone to know, which costs as much as all else here. */
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

/** Of an operation that needs nothing but the schema. */
const operationWithoutRest: AcceptedOperation = { context: {}, run: async (execute) => execute() };

/** An operation that may run. A class, as closures and async functions for each would cost several times as much. */
class RestOperation implements AcceptedOperation {
  readonly context: OperationContext;
  readonly #operation: Operation;
  readonly #request: OperationRequest;
  readonly #sharing: QuerySharing;
  readonly #mutations: RunningMutations | undefined;
  /** Set for as long as others may join it. */
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
      // Finished once it is begun, also where its client has gone.
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
    // Calls beside a field whose failure has made their parent null, and pages that were asked for ahead and not used, would keep
    // others waiting, and the server from closing. What a mutation has begun is left to finish.
    if (this.#isQuery) scope.end();
    else scope.stopTimeout();
  }
}

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
