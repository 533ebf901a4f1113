import { OperationScope } from '../../concurrency/operation-scope.ts';
import { TimeoutQueue } from '../../concurrency/timeout-queue.ts';
import type { Context } from '../../graph/context.ts';
import { createLoaders, type Loaders } from '../../loaders/loaders.ts';
import type { CreatedDocument, DocumentRequest, LabelDocuments } from '../../printing/label-documents.ts';
import type { RestApi } from '../../rest/api.ts';
import type { CallContext } from '../../rest/client/call-context.ts';
import { operationTimeout } from '../../rest/errors.ts';
import { bareIdentifier } from '../../rest/resource-name.ts';
import type { ReportError } from '../../telemetry/error-report.ts';
import { createWrites, type Writes } from '../../writes/writes.ts';
import type { ClientError } from '../http/http-error.ts';
import { toClientError } from './client-error.ts';
import type { OperationRequest } from './operation-interfaces.ts';
import type { TokenMemory } from './token-memory.ts';

export interface ContextOptions {
  settings: { currency: string; operationTimeoutMs: number; showCost: boolean };
  api: RestApi;
  tokens: Pick<TokenMemory, 'callContexts' | 'loaderStates' | 'idempotency'>;
  labelDocuments: LabelDocuments;
  publicUrl: () => URL;
  report: ReportError;
}

/** The contexts of operations. Their REST calls are made with the access token `bearer`. */
export function createContextFactory(options: ContextOptions) {
  const timeouts = new TimeoutQueue(options.settings.operationTimeoutMs);
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
    const { settings, api, tokens } = options;
    request.onAbort((reason) => scope.signal.abort(reason));
    this.#options = options;
    this.currency = settings.currency;
    this.scope = scope;
    this.callContext = tokens.callContexts.of(bearer, scope.signal, scope, response.req.socket);
    this.loaders = createLoaders(api, this.callContext, tokens.loaderStates);
    this.showsCost = settings.showCost || headers.get('x-upstream-cost') === '1';
    this.#requestId = requestRecord?.requestId;
  }

  /** Created at first use, because most operations write nothing. */
  get writes(): Writes {
    const { callContext, loaders } = this;
    const { api, tokens } = this.#options;
    this.#writes ??= createWrites({ api, callContext, loaders, idempotency: tokens.idempotency });
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
