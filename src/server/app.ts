import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { createTenants } from '../concurrency/tenant.ts';
import { schema } from '../graph/schema.ts';
import { createLoaderStates, type LoadingOptions } from '../loaders/tenant-state.ts';
import type { RestApi } from '../rest/api.ts';
import { type CallContextsOptions, createCallContexts } from '../rest/client/call-context.ts';
import { type Log, silentLog } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { createIdempotency } from '../writes/idempotency.ts';
import { createMemoryStore, type IdempotencyStore } from '../writes/idempotency-store.ts';
import { cachedDocuments } from './documents/document-cache.ts';
import { createDocumentSources, type DocumentOptions } from './documents/documents.ts';
import { idParameters, persistedDocuments } from './documents/persisted-queries.ts';
import { hiddenSuggestions } from './documents/schema-access.ts';
import { createRequestLog, loggedRequests } from './graphql/access-log.ts';
import { createCompiledQueries } from './graphql/compiled-queries.ts';
import type { ContextOptions } from './graphql/context.ts';
import { createMaskedErrors, validationErrors } from './graphql/error-mapping.ts';
import { fastPath } from './graphql/fast-path.ts';
import { createOperationRunner } from './graphql/run-operation.ts';
import type { RunningMutations } from './graphql/running-mutations.ts';
import { yogaOperations } from './graphql/yoga-execution.ts';
import { type NodeContext, readYogaRequest } from './graphql/yoga-request.ts';
import { createCors } from './http/cors.ts';
import { createLoadShedder, type LoadSheddingLimits } from './http/load-shedding.ts';
import { createPerTokenLimit } from './http/per-token-limit.ts';
import { createBodyBudget, maxBodyBytesAtOnce } from './http/request-body.ts';
import { createResponseHeaders, responseHeaders } from './http/response-headers.ts';
import type { Limits } from './limits/limits.ts';
import { truncatedErrors } from './limits/truncate-errors.ts';
import { graphiql } from './routes/graphiql/graphiql.ts';
import { createHealth, type Health, healthRoute } from './routes/health.ts';
import { labelRoute } from './routes/labels.ts';
import { metricsRoute } from './routes/metrics.ts';
import { notFoundRoute } from './routes/not-found.ts';

export interface AppOptions extends ContextOptions, DocumentOptions, Omit<CallContextsOptions, 'tenants'> {
  api: RestApi;
  /** The access token that GraphiQL starts with; undefined leaves its place empty. */
  graphiqlBearer?: string | undefined;
  /** Whether queries are compiled at their first use; they are when left out. The answers are the same. */
  compileQueries?: boolean;
  /** How loaders save calls. */
  loading: LoadingOptions;
  /** How large documents and their values may be. */
  limits: Limits;
  /** Where a line of each operation goes; nowhere when left out. */
  log?: Log;
  /** Where everything is counted; nowhere when left out. */
  metrics?: Metrics | undefined;
  /** Whether the application itself shows what is counted. */
  showMetrics?: boolean;
  /** What follows operations and their calls; nothing when left out. */
  tracing?: Tracing | undefined;
  /** Where the keys of writes are remembered; in memory when left out. */
  idempotencyStore?: IdempotencyStore;
  /**
   * By which tokens and keys are turned into digests; random when left out, so that these mean nothing outside of this
   * process.
   */
  secret?: Buffer;
  /** Tells other processes whose token REST does not take, and is told by them; none when left out. */
  refusedTenants?: RefusedTenants;
  /** How many keys the store in memory holds at most. */
  idempotencyKeys: number;
  /** How large the body of a request may be, in bytes. */
  maxBodyBytes: number;
  /** How many bytes of bodies that are being sent are held at most; 64 MiB when left out. */
  bodyBytesAtOnce?: number;
  /** How many requests of each route are under way at most. */
  loadShedding: LoadSheddingLimits;
  /** Origins whose pages may use this server from a browser; none when left out. */
  corsOrigins?: readonly string[] | undefined;
  /** Whether clients reach this server by https; they don't when left out. */
  isHttps?: boolean;
  /** Where mutations are followed, for an end that waits for them; nowhere when left out. */
  mutations?: RunningMutations;
  /** What `/health/ready` says; always that it is ready when left out. */
  health?: Health;
  /** Whether known queries take the fast path; they do when left out. The answers are the same. */
  fastPath?: boolean;
}

/** What processes with the same `secret` tell each other of tokens that REST does not take, by the ids of their tenants. */
export interface RefusedTenants {
  publish(tenantId: string): void;
  /** `take` is given each id that another process tells. */
  subscribe(take: (tenantId: string) => void): void;
}

/** The application as a listener for Node's server, and as `fetch`. */
export interface App {
  (request: IncomingMessage, response: ServerResponse): void;
  fetch: YogaServerInstance<NodeContext, object>['fetch'];
}

/**
 * The whole HTTP application. Opens nothing.
 * @throws OperationListError where documents of the list can't be run.
 */
export function createApp(options: AppOptions): App {
  const { secret = randomBytes(32) } = options;
  const loaderStates = createLoaderStates(options.loading, { observer: options.metrics?.loading });
  const tenants = createTenants({ secret });
  const refusedTenants = options.refusedTenants ?? { publish: () => {}, subscribe: () => {} };
  refusedTenants.subscribe((id) => {
    tenants.refuse(id);
    const tenant = tenants.withId(id);
    if (tenant !== undefined) loaderStates.forget(tenant);
  });
  const shared = {
    callContexts: createCallContexts({
      ...options,
      tenants,
      onRefused(tenant) {
        loaderStates.forget(tenant);
        refusedTenants.publish(tenant.id);
      },
    }),
    loaderStates,
    idempotency: createIdempotency({
      store: options.idempotencyStore ?? createMemoryStore({ maxKeys: options.idempotencyKeys }),
      report: options.report,
      secret,
    }),
  };
  const { metrics, mutations, tracing, limits } = options;
  const loadShedding = createLoadShedder(options.loadShedding);
  const cors = createCors(options.corsOrigins ?? []);
  const headers = createResponseHeaders({ cors, isHttps: options.isHttps ?? false });
  const { documents, operations } = createDocumentSources(schema, limits, options, metrics?.documentRead);
  const isPrivate = options.schemaAccess === 'private';
  metrics?.showCallsWaiting(shared.callContexts.callsWaiting);
  const maskedErrors = createMaskedErrors(options.report);
  const requestLog = createRequestLog({
    log: options.log ?? silentLog,
    maskedErrors,
    observer: metrics?.requests,
    tracing,
  });
  const reading = {
    maxBodyBytes: options.maxBodyBytes,
    budget: createBodyBudget(options.bodyBytesAtOnce ?? maxBodyBytesAtOnce),
    loadShedding,
  };
  const runner = createOperationRunner({ schema, limits, shared, context: options, mutations, tracing });
  const compiledQueries = options.compileQueries === false ? undefined : createCompiledQueries(schema);

  const yoga = createYoga<NodeContext>({
    schema,
    maskedErrors: { maskError: maskedErrors.mask },
    // GraphiQL and the landing page of the library load their scripts from elsewhere.
    graphiql: false,
    landingPage: false,
    // The library's own health check answers every URL that ends with this, and none does.
    healthCheckEndpoint: ' ',
    multipart: false,
    cors: false,
    logging: false,
    // Held by the reading of requests, at a fraction of what the library's own limit costs.
    maxRequestBodySize: false,
    // Documents are kept in a cache of this server's own, which is bounded in bytes.
    parserAndValidationCache: false,
    extraParamNames: idParameters,
    plugins: [
      loggedRequests(requestLog),
      responseHeaders(headers, cors),
      healthRoute(options.health ?? createHealth(async () => undefined)),
      !isPrivate && graphiql({ bearer: options.graphiqlBearer, trustedDocuments: options.trustedDocuments }),
      metrics !== undefined && options.showMetrics === true && metricsRoute(metrics),
      labelRoute({
        api: options.api,
        callContexts: shared.callContexts,
        loadShedding,
        perTokenLimit: createPerTokenLimit(options.loadShedding.label, 'Requests for labels'),
        report: options.report,
        tracing,
      }),
      notFoundRoute(),
      readYogaRequest(reading),
      persistedDocuments(operations),
      cachedDocuments(documents),
      truncatedErrors(),
      validationErrors(options.report),
      isPrivate && hiddenSuggestions(),
      yogaOperations(runner, compiledQueries),
    ],
  });
  if (compiledQueries === undefined || options.fastPath === false) return yoga;
  const parts = {
    ...reading,
    requestLog,
    responseHeaders: headers,
    maskedErrors,
    operations,
    documents,
    compiledQueries,
    runner,
  };
  return Object.assign(fastPath(parts, yoga), { fetch: yoga.fetch });
}
