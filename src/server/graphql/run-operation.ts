import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { Caller, Callers } from '../../rest/client/call-context.ts';
import { createLedger } from '../../rest/client/call-log.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { bearerOf } from '../http/bearer.ts';
import type { Limits } from '../limits/limits.ts';
import { createOperationLimits } from '../limits/operation-limits.ts';
import { needsRest, unauthenticated } from './authentication.ts';
import { type ContextOptions, createContexts, type OperationContext, type Shared } from './context.ts';
import { withCost } from './cost-report.ts';
import { withOrderedErrors } from './error-mapping.ts';
import type { Asking, Execute, Operation } from './operation-request.ts';
import { type InFlightQuery, QuerySharing } from './query-sharing.ts';
import type { MutationsUnderWay } from './running-mutations.ts';

/** The way of every operation of a valid document, however its request came. */
export interface Running {
  /** Notes who asks for what, and says why it may not run, or how it is run. Makes no calls. */
  begin(operation: Operation, asking: Asking): Refused | Begun;
}

/** An operation that nothing is run of. */
export interface Refused {
  refusal: ExecutionResult;
}

export interface Begun {
  /** What its resolvers are given. */
  context: object;
  /** Runs it, or has it answered by an equal one that is under way. `execute` is how. */
  run(execute: Execute): Promise<ExecutionResult>;
}

export interface RunningOptions {
  schema: GraphQLSchema;
  limits: Limits;
  shared: Shared;
  context: ContextOptions;
  /** Where mutations are followed, for an end that waits for them; nowhere when left out. */
  mutations: MutationsUnderWay | undefined;
  tracing: Tracing | undefined;
}

/** Who asks for what makes no calls. Whose token it is, is for the log alone to know, which costs as much as all else here. */
class Idle implements Pick<Caller, 'tenant' | 'ledger'> {
  readonly #bearer: string;
  readonly #callers: Callers;
  readonly ledger = createLedger();

  constructor(bearer: string, callers: Callers) {
    this.#bearer = bearer;
    this.#callers = callers;
  }

  get tenant() {
    return this.#callers.tenantOf(this.#bearer);
  }
}

/** Of an operation that needs nothing but the schema. */
const withoutRest: Begun = { context: {}, run: async (execute) => execute() };

/** An operation that may run. A class, as closures and async functions for each would cost several times as much. */
class OwnRun implements Begun {
  readonly context: OperationContext;
  readonly #operation: Operation;
  readonly #asking: Asking;
  readonly #sharing: QuerySharing;
  readonly #mutations: MutationsUnderWay | undefined;
  /** Set for as long as others may join it. */
  #inFlight: InFlightQuery | undefined;

  constructor(
    context: OperationContext,
    operation: Operation,
    asking: Asking,
    sharing: QuerySharing,
    mutations: MutationsUnderWay | undefined,
  ) {
    this.context = context;
    this.#operation = operation;
    this.#asking = asking;
    this.#sharing = sharing;
    this.#mutations = mutations;
  }

  run(execute: Execute): Promise<ExecutionResult> {
    const { lifetime, ledger, showsCost } = this.context;
    const costed = showsCost ? async () => withCost(await execute(), ledger) : execute;
    lifetime.startClock();
    try {
      return this.#answer(costed).then(
        (result) => {
          this.#end();
          return withOrderedErrors(result);
        },
        (error: unknown) => {
          this.#end();
          throw error;
        },
      );
    } catch (error) {
      this.#end();
      return Promise.reject(error);
    }
  }

  get #isQuery(): boolean {
    return this.#operation.definition.operation === 'query';
  }

  #answer(execute: Execute): Promise<ExecutionResult> {
    if (!this.#isQuery) {
      // Finished once it is begun, also where its client has gone.
      const running = Promise.resolve(execute());
      return this.#mutations?.follow(running) ?? running;
    }
    const { tenant, lifetime, showsCost } = this.context;
    const key = this.#sharing.keyOf(this.#operation, showsCost);
    if (key === undefined) return Promise.resolve(execute());
    const known = this.#sharing.find(tenant, key);
    if (known?.result !== undefined) {
      this.#asking.whenGone(known.lifetime.join());
      if (this.#asking.exchange !== undefined) this.#asking.exchange.joined = true;
      return known.result;
    }
    const result = Promise.resolve(execute());
    this.#inFlight = this.#sharing.began(tenant, key, lifetime, result);
    return result;
  }

  #end(): void {
    const { lifetime } = this.context;
    if (this.#inFlight !== undefined) this.#sharing.ended(this.#inFlight);
    // Calls beside a field whose failure has made their parent null, and pages that were asked for ahead and not used, would keep
    // others waiting, and the server from closing. What a mutation has begun is left to finish.
    if (this.#isQuery) lifetime.end();
    else lifetime.stopClock();
  }
}

export function createRunning(options: RunningOptions): Running {
  const { schema, limits, mutations, tracing } = options;
  const { refusalOf } = createOperationLimits(schema, limits);
  const contextOf = createContexts(options.shared, options.context);
  const sharing = new QuerySharing();

  return {
    begin(operation, asking) {
      const { document, definition, variables } = operation;
      const { exchange } = asking;
      if (exchange !== undefined) exchange.operation = definition;
      const bearer = bearerOf(asking.headers);
      let context: OperationContext | undefined;
      if (needsRest(definition, document)) {
        if (typeof bearer !== 'string') return { refusal: unauthenticated(bearer) };
        context = contextOf(bearer, asking);
      }
      if (exchange !== undefined) {
        exchange.caller =
          context ?? (typeof bearer === 'string' ? new Idle(bearer, options.shared.callers) : undefined);
        tracing?.begin(exchange, asking.headers);
      }
      const refusal = refusalOf(document, definition.name?.value, variables);
      if (refusal !== undefined) return { refusal: { errors: [refusal] } };
      return context === undefined ? withoutRest : new OwnRun(context, operation, asking, sharing, mutations);
    },
  };
}
