// Runs an operation, on the fast path and through Yoga. Checks the token and the limits, makes the context, and shares
// equal queries. The next step is compiled-queries.ts for queries, and Yoga's executor for all other operations.

import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { joinableMs } from '../../concurrency/coalescing-map.ts';
import type { Tenant } from '../../concurrency/tenant.ts';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import { createCallLog } from '../../rest/client/call-log.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { Operation } from '../document-syntax/operation.ts';
import type { LoadShedder } from '../http/load-shedding.ts';
import { bearerOf } from '../http/request-checks.ts';
import type { Limits } from '../limits/limits.ts';
import { createOperationLimits } from '../limits/operation-limits.ts';
import { type PointCost, RateLimit } from '../limits/rate-limit.ts';
import { Admission, type AdmittedOperation } from './admission.ts';
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
import { refusalOf } from './refusal.ts';
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
  loadShedding: LoadShedder;
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

/** Operations that need only the schema share one owner, because they need no access token. */
const schemaReader: Tenant = { id: 'schema', writes: 0 };

/** An operation that needs only the schema, such as an introspection. It ends at once, so it waits for no turn. */
class SchemaOperation implements AcceptedOperation {
  readonly context = {};
  readonly #request: OperationRequest;
  readonly #admission: Admission;

  constructor(request: OperationRequest, admission: Admission) {
    this.#request = request;
    this.#admission = admission;
  }

  async run(execute: Execute): Promise<ExecutionResult> {
    return this.#admission.watch(schemaReader, this.#request.response) ?? execute();
  }
}

/** An operation that makes REST calls. A class: closures and async functions would cost several times as much. */
class RestOperation implements AcceptedOperation, AdmittedOperation {
  before: AdmittedOperation | undefined;
  after: AdmittedOperation | undefined;
  readonly context: OperationContext;
  readonly weight: number;
  readonly #operation: Operation;
  readonly #request: OperationRequest;
  readonly #sharing: QuerySharing;
  readonly #mutations: RunningMutations | undefined;
  readonly #admission: Admission;
  readonly #rateLimit: RateLimit | undefined;
  /** Set once the points are charged. */
  #cost: PointCost | undefined;
  #isGranted = false;
  /** Equal queries have the same key. Undefined for a query that is never shared. */
  #sharingKey: string | undefined;
  /** Set while the operation waits for its turn. The result is that of an operation that waited too long. */
  #endWait: ((refusal: ExecutionResult | undefined) => void) | undefined;
  /** Set while other requests may join the query. */
  #inFlight: InFlightQuery | undefined;

  constructor(
    context: OperationContext,
    nodes: number,
    operation: Operation,
    request: OperationRequest,
    sharing: QuerySharing,
    mutations: RunningMutations | undefined,
    admission: Admission,
    rateLimit: RateLimit | undefined,
  ) {
    this.context = context;
    this.weight = Math.max(1, nodes);
    this.#operation = operation;
    this.#request = request;
    this.#sharing = sharing;
    this.#mutations = mutations;
    this.#admission = admission;
    this.#rateLimit = rateLimit;
  }

  run(execute: Execute): Promise<ExecutionResult> {
    const { scope, tenant } = this.context;
    scope.startTimeout();
    const charge = this.#rateLimit?.charge(tenant, this.weight);
    this.#cost = charge?.cost;
    if (charge?.error !== undefined) return Promise.resolve(this.#refused(refusalOf(charge.error)));
    const { response } = this.#request;
    // A query that joins an equal one executes nothing, so it needs no turn.
    const joins = this.#findEqualQuery() !== undefined && this.#admission.isOpenTo(tenant);
    const refusal = joins
      ? this.#admission.watch(tenant, response)
      : this.#admission.enter(tenant, this, response);
    if (refusal !== undefined) return Promise.resolve(this.#refused(refusal));
    return joins || this.#isGranted ? this.#start(execute) : this.#waitAndStart(execute);
  }

  /** Called when the turn of the operation comes. */
  onSlotGranted(): void {
    this.#isGranted = true;
    this.#endWait?.(undefined);
  }

  /** Handles the end of the scope while the operation waits: its client has gone, or its time has passed. */
  handleEvent(): void {
    if (this.#isGranted) return;
    const { scope, tenant } = this.context;
    this.#endWait?.(this.#admission.leave(tenant, this, scope.deadline.signal.aborted));
  }

  async #waitAndStart(execute: Execute): Promise<ExecutionResult> {
    const { signal } = this.context.scope;
    const refusal = await new Promise<ExecutionResult | undefined>((resolve) => {
      this.#endWait = resolve;
      signal.addEventListener('abort', this);
      // A scope that has ended calls no listener.
      if (signal.aborted) this.handleEvent();
    });
    signal.removeEventListener('abort', this);
    return refusal === undefined ? this.#start(execute) : this.#refused(refusal);
  }

  #refused(refusal: ExecutionResult): ExecutionResult {
    this.#endScope();
    return this.#withPoints(refusal);
  }

  /** Adds the points to a result. Not a part of the execution, because requests that share it pay each. */
  #withPoints(result: ExecutionResult): ExecutionResult {
    if (this.#cost === undefined || !this.context.showsCost) return result;
    return { ...result, extensions: { ...result.extensions, cost: this.#cost } };
  }

  #start(execute: Execute): Promise<ExecutionResult> {
    const { callLog, showsCost } = this.context;
    const instrumentedExecute = showsCost ? async () => withCost(await execute(), callLog) : execute;
    try {
      return this.#executeOrJoin(instrumentedExecute).then(
        (result) => {
          this.#finish();
          return this.#withPoints(withOrderedErrors(result));
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

  /** A running equal query that this query may join. Sets the key of the query. */
  #findEqualQuery(): InFlightQuery | undefined {
    const { tenant, scope, showsCost } = this.context;
    if (!this.#isQuery) return undefined;
    this.#sharingKey ??= this.#sharing.keyOf(this.#operation, showsCost);
    const equalQuery =
      this.#sharingKey === undefined ? undefined : this.#sharing.find(tenant, this.#sharingKey);
    if (equalQuery?.result === undefined) return undefined;
    // A wait for a turn may have used up time. Without a timeout, the difference is NaN.
    const aheadMs = equalQuery.scope.deadline.remainingMs() - scope.deadline.remainingMs();
    return Math.abs(aheadMs) > joinableMs ? undefined : equalQuery;
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
    const { tenant, scope } = this.context;
    const key = this.#sharingKey;
    if (key === undefined) return Promise.resolve(execute());
    const equalQuery = this.#findEqualQuery();
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
    if (this.#inFlight !== undefined) this.#sharing.remove(this.#inFlight);
    this.#endScope();
    if (this.#isGranted) this.#admission.exit(this.context.tenant, this);
  }

  #endScope(): void {
    const { scope } = this.context;
    // Abort the remaining calls of a query: calls below a propagated null, and prefetched pages that were not used.
    // These calls would occupy slots and delay the shutdown. The calls of a mutation are finished.
    if (this.#isQuery) scope.end();
    else scope.stopTimeout();
  }
}

/** Creates the runner that the fast path and Yoga share. */
export function createOperationRunner(options: OperationRunnerOptions): OperationRunner {
  const { schema, limits, mutations, tracing } = options;
  const { check } = createOperationLimits(schema, limits);
  const admission = new Admission({ ...options, maxNodes: limits.nodes });
  const rateLimit = options.pointsPerSecond > 0 ? new RateLimit(options.pointsPerSecond) : undefined;
  const createContext = createContextFactory(options.shared, options.context);
  const sharing = new QuerySharing();

  return {
    prepare(operation, request) {
      const { document, definition } = operation;
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
      const nodes = check(operation);
      if (typeof nodes !== 'number') return { rejection: { errors: [nodes] } };
      return context === undefined
        ? new SchemaOperation(request, admission)
        : new RestOperation(context, nodes, operation, request, sharing, mutations, admission, rateLimit);
    },
  };
}
