import { OperationScope } from '../../concurrency/operation-scope.ts';
import { TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import type { Context } from '../../graph/context.ts';
import { createLoaders, type Loaders } from '../../loaders/loaders.ts';
import type { LoaderStates } from '../../loaders/tenant-state.ts';
import type { CreatedDocument, DocumentRequest, LabelDocuments } from '../../printing/label-documents.ts';
import type { RestApi } from '../../rest/api.ts';
import type { CallContext, CallContexts } from '../../rest/client/call-context.ts';
import { operationTimeout } from '../../rest/errors.ts';
import { bareIdentifier } from '../../rest/resource-name.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import type { Idempotency } from '../../writes/idempotency.ts';
import { createWrites, type Writes } from '../../writes/writes.ts';
import type { ClientError } from '../http/http-error.ts';
import { toClientError } from './client-error.ts';
import type { OperationRequest } from './operation-request.ts';

export interface ContextOptions {
  api: RestApi;
  callContexts: CallContexts;
  loaderStates: LoaderStates;
  idempotency: Idempotency;
  labelDocuments: LabelDocuments;
  currency: string;
  report: ReportError;
  publicUrl: () => URL;
  operationTimeoutMs: number;
  showCost: boolean;
}

/** The contexts of operations. Their REST calls are made with the access token `bearer`. */
export function createContextFactory(options: ContextOptions) {
  const timeouts = new TimeoutQueue(options.operationTimeoutMs);
  return (bearer: string, request: OperationRequest) =>
    new OperationContext(options, new OperationScope(timeouts, operationTimeout), bearer, request);
}

export type ContextFactory = ReturnType<typeof createContextFactory>;

/**
 * The context value of an operation: the members for resolvers, and those that only the server uses. A class, not an
 * object literal: V8 keeps the literal's accessors (docs/design/how-it-stays-fast.md#objects).
 */
export class OperationContext implements Context {
  readonly currency: string;
  readonly loaders: Loaders;
  readonly scope: OperationScope;
  readonly callContext: CallContext;
  /** Whether the response has `extensions.upstream`, and `extensions.cost` with a rate limit. */
  readonly showsCost: boolean;
  readonly #requestId: string | undefined;
  readonly #options: ContextOptions;
  #writes: Writes | undefined;

  constructor(options: ContextOptions, scope: OperationScope, bearer: string, request: OperationRequest) {
    const { headers, requestRecord, response } = request;
    request.onAbort((reason) => scope.signal.abort(reason));
    this.#options = options;
    this.currency = options.currency;
    this.scope = scope;
    this.callContext = options.callContexts.of(bearer, scope.signal, scope, response.req.socket);
    this.loaders = createLoaders(options.api, this.callContext, options.loaderStates);
    this.showsCost = options.showCost || headers.get('x-upstream-cost') === '1';
    this.#requestId = requestRecord?.requestId;
  }

  /** Created at first use, because most operations write nothing. */
  get writes(): Writes {
    const { api, idempotency } = this.#options;
    this.#writes ??= createWrites(api, this.callContext, this.loaders, idempotency);
    return this.#writes;
  }

  reportError(error: unknown): ClientError {
    const clientError = toClientError(error);
    if (clientError.code === 'INTERNAL_SERVER_ERROR') this.#options.report(error, this.#requestId);
    return clientError;
  }

  labelUrl(shipmentName: string): string {
    return this.#url(`labels/${encodeURIComponent(bareIdentifier('shipments', shipmentName))}.pdf`);
  }

  createLabelDocument(request: DocumentRequest): Promise<CreatedDocument> {
    return this.#options.labelDocuments.create(request, this.callContext, this.loaders);
  }

  documentUrl(id: string): string {
    return this.#url(`documents/${id}.pdf`);
  }

  #url(path: string): string {
    return `${this.#options.publicUrl().href.replace(/\/$/, '')}/${path}`;
  }
}
