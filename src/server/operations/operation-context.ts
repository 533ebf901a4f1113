import { createOperationScopes, type OperationScope } from '../../concurrency/operation-scope.ts';
import type { Owner } from '../../concurrency/owner.ts';
import type { Context } from '../../graph/context.ts';
import { createLoaders, type Loaders } from '../../loaders/loaders.ts';
import type { LoaderStates } from '../../loaders/tenant-state.ts';
import type { RestApi } from '../../rest/api.ts';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import type { CallLog } from '../../rest/client/call-log.ts';
import { operationScopeErrors } from '../../rest/errors.ts';
import { bareIdentifier } from '../../rest/resource-name.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import type { Idempotency } from '../../writes/idempotency.ts';
import { createWrites, type Writes } from '../../writes/writes.ts';
import { toClientError } from './client-error.ts';
import { requestsCost } from './cost-report.ts';
import type { OperationRequest } from './operation-request.ts';

/** What the contexts of all operations need from the server's configuration. */
export interface ContextOptions {
  api: RestApi;
  /** ISO 4217 code. */
  currency: string;
  /** Called with every error that is masked for clients. */
  report: ReportError;
  /** The base URL by which clients reach this server. */
  publicUrl: () => URL;
  /** Milliseconds. No timeout by default. */
  operationTimeoutMs?: number;
  /** Whether every response has the cost extension, even if the request does not ask for the extension. */
  showCost?: boolean;
}

/** The context value of an operation: the members for resolvers, and those that only the server uses. */
export interface OperationContext extends Context {
  readonly tenant: Tenant;
  /** Whose turn the operation takes. */
  readonly owner: Owner;
  /** Aborts when the last waiting request has gone. Requests for an equal query add themselves as waiters. */
  readonly scope: OperationScope;
  /** The REST calls of the operation so far. */
  readonly callLog: CallLog;
  /** Whether the response has `extensions.upstream`, and `extensions.cost` with a rate limit. */
  readonly showsCost: boolean;
}

/** State that all operations share. */
export interface SharedState {
  callContexts: CallContexts;
  loaderStates: LoaderStates;
  /** The writes that are done or running, by idempotency key. */
  idempotency: Idempotency;
}

/** Creates the context value of one operation. REST calls are made with the access token `bearer`. */
export type ContextFactory = (bearer: string, request: OperationRequest) => OperationContext;

/** Creates the function that creates a context for each operation. */
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
    const connection = request.response?.req.socket;
    const callContext = callContexts.of(bearer, scope.signal, scope.deadline, connection);
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

/** The part of a context that is the same for all operations. */
interface ContextDependencies {
  shared: SharedState;
  options: ContextOptions;
  labelUrl: Context['labelUrl'];
}

/** A class, not an object literal: V8 keeps the literal's accessors (docs/decisions/0004-long-lived-closures.md). */
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

  /** A getter: most operations report nothing. Returns an arrow function: batch mutations detach the function. */
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

  get owner(): Owner {
    return this.#callContext.owner;
  }

  get callLog(): CallLog {
    return this.#callContext.callLog;
  }

  /** Created at first use, because most operations write nothing. */
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
