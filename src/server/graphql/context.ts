import { createOperationScopes, type OperationScope } from '../../concurrency/operation-scope.ts';
import type { Tenant } from '../../concurrency/tenant.ts';
import type { Context } from '../../graph/context.ts';
import { createLoaders, type Loaders } from '../../loaders/loaders.ts';
import type { LoaderStates } from '../../loaders/tenant-state.ts';
import type { RestApi } from '../../rest/api.ts';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import type { CallLog } from '../../rest/client/call-log.ts';
import { operationScopeErrors } from '../../rest/errors.ts';
import { bareIdentifier } from '../../rest/resource-name.ts';
import type { Report } from '../../telemetry/error-report.ts';
import type { Idempotency } from '../../writes/idempotency.ts';
import { createWrites, type Writes } from '../../writes/writes.ts';
import { toClientError } from '../http/client-error.ts';
import { requestsCost } from './cost-report.ts';
import type { OperationRequest } from './operation-request.ts';

export interface ContextOptions {
  api: RestApi;
  currency: string;
  /** Told of every error that a client gets to see masked. */
  report: Report;
  /** How clients reach this server. */
  publicUrl: () => URL;
  /** How long an operation may take in milliseconds; without an end when left out. */
  operationTimeoutMs?: number;
  /** Whether every operation shows what it cost, also where its request does not ask for that. */
  showCost?: boolean;
}

/** What the resolvers of an operation can reach, and what the server itself knows of it. */
export interface OperationContext extends Context {
  readonly tenant: Tenant;
  /** How long somebody waits for its answer; other requests may join. */
  readonly scope: OperationScope;
  /** What it has cost so far. */
  readonly callLog: CallLog;
}

/** What operations share. */
export interface SharedState {
  callContexts: CallContexts;
  loaderStates: LoaderStates;
  /** What has been done under which key. */
  idempotency: Idempotency;
}

/** Makes what the resolvers of one operation can reach, anew for each, on behalf of `bearer`. */
export type ContextFactory = (bearer: string, request: OperationRequest) => OperationContext;

export function createContextFactory(shared: SharedState, options: ContextOptions): ContextFactory {
  const { callContexts, loaderStates } = shared;
  const createScope = createOperationScopes(operationScopeErrors, options.operationTimeoutMs);
  const dependencies: ContextDependencies = {
    shared,
    options,
    labelUrl: (name) => labelUrl(options.publicUrl(), name),
  };
  return (bearer, request) => {
    const { headers, requestRecord } = request;
    const scope = createScope();
    request.onAbort(scope.addWaiter());
    const callContext = callContexts.of(bearer, scope.signal, scope.deadline);
    const loaders = createLoaders(options.api, callContext, loaderStates);
    return new ResolverContext(
      dependencies,
      callContext,
      scope,
      loaders,
      requestsCost(headers),
      requestRecord?.requestId,
    );
  };
}

/** What is the same for all operations. */
interface ContextDependencies {
  shared: SharedState;
  options: ContextOptions;
  labelUrl: Context['labelUrl'];
}

/** A class, as an accessor of an object literal keeps all that it can reach until a full collection of garbage. */
class ResolverContext implements OperationContext {
  readonly loaders: Loaders;
  readonly scope: OperationScope;
  readonly showsCost: boolean;
  readonly labelUrl: Context['labelUrl'];
  readonly #requestId: string | undefined;
  readonly #callContext: CallContext;
  readonly #dependencies: ContextDependencies;
  #writes: Writes | undefined;

  constructor(
    dependencies: ContextDependencies,
    callContext: CallContext,
    scope: OperationScope,
    loaders: Loaders,
    isCostRequested: boolean,
    requestId: string | undefined,
  ) {
    this.#dependencies = dependencies;
    this.#callContext = callContext;
    this.scope = scope;
    this.loaders = loaders;
    this.labelUrl = dependencies.labelUrl;
    this.showsCost = isCostRequested || dependencies.options.showCost === true;
    this.#requestId = requestId;
  }

  /** Made where it is asked for, as most operations write nothing, and by itself, as bulk writes take it out. */
  get reportError(): Context['reportError'] {
    return (error) => {
      const clientError = toClientError(error);
      if (clientError.code === 'INTERNAL_SERVER_ERROR')
        this.#dependencies.options.report(error, this.#requestId);
      return clientError;
    };
  }

  get currency(): string {
    return this.#dependencies.options.currency;
  }

  get tenant(): Tenant {
    return this.#callContext.tenant;
  }

  get callLog(): CallLog {
    return this.#callContext.callLog;
  }

  /** Most operations write nothing. */
  get writes(): Writes {
    const { shared, options } = this.#dependencies;
    this.#writes ??= createWrites(options.api, this.#callContext, this.loaders, shared.idempotency);
    return this.#writes;
  }
}

function labelUrl(publicUrl: URL, shipmentName: string): string {
  const base = publicUrl.href.replace(/\/$/, '');
  return `${base}/labels/${encodeURIComponent(bareIdentifier('shipments', shipmentName))}.pdf`;
}
