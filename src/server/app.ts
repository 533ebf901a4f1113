import type { IncomingMessage, ServerResponse } from 'node:http';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { RunningMutations } from '../concurrency/running-mutations.ts';
import { createTenants, type Tenant } from '../concurrency/tenant.ts';
import { schema } from '../graph/schema.ts';
import { createLoaderStates, type LoadingOptions } from '../loaders/tenant-state.ts';
import type { RestApi } from '../rest/api.ts';
import { type CallContextsOptions, createCallContexts } from '../rest/client/call-context.ts';
import { type Log, silentLog } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { HeaderReader } from '../telemetry/request-record.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { createDigest } from '../writes/digest.ts';
import { createIdempotency } from '../writes/idempotency.ts';
import { createMerchants } from '../writes/merchant.ts';
import type { KeyStore } from '../writes/store/key-store.ts';
import { cachedDocuments } from './documents/document-cache.ts';
import { createDocumentSources, type DocumentOptions } from './documents/document-sources.ts';
import { idParameters, persistedDocuments } from './documents/persisted-queries.ts';
import { hiddenSuggestions } from './documents/schema-access.ts';
import { createExecutor, type Execute } from './execution/executor.ts';
import { createAccessLog, loggedRequests } from './graphql/access-log.ts';
import { createMaskedErrors, validationErrors } from './graphql/error-mapping.ts';
import { fastPath } from './graphql/fast-path.ts';
import type { ContextOptions } from './graphql/operation-context.ts';
import { createOperationRunner } from './graphql/run-operation.ts';
import { yogaOperations } from './graphql/yoga-execution.ts';
import { type NodeContext, readYogaRequest } from './graphql/yoga-request.ts';
import { compressedResponses } from './http/compression.ts';
import { createCors } from './http/cors.ts';
import { createLoadShedder, type LoadSheddingLimits } from './http/load-shedding.ts';
import { defaultUnreadBudgetBytes } from './http/open-responses.ts';
import { createBodyBudget, defaultBodyBudgetBytes } from './http/request-body.ts';
import { bearerOf } from './http/request-checks.ts';
import { createResponseHeaders, responseHeaders } from './http/response-headers.ts';
import type { Limits } from './limits/limits.ts';
import { truncatedErrors } from './limits/truncate-errors.ts';
import { graphiql } from './routes/graphiql/graphiql.ts';
import { createHealth, type Health, healthRoute } from './routes/health.ts';
import { LabelQueue } from './routes/label-queue.ts';
import { labelRoute } from './routes/labels.ts';
import { metricsRoute } from './routes/metrics.ts';
import { notFoundRoute } from './routes/not-found.ts';

/** The settings and resources of the application. */
export interface AppOptions extends ContextOptions, DocumentOptions, Omit<CallContextsOptions, 'tenants'> {
  /** The client of the REST interface. */
  api: RestApi;
  /** The access token that GraphiQL starts with. Undefined: GraphiQL shows a placeholder. */
  graphiqlBearer?: string | undefined;
  /** The host that GraphiQL names as a live service. Undefined: GraphiQL has no warning, as in the sandbox. */
  graphiqlLiveHost?: string | undefined;
  /** Executes operations, by default with plans. Tests compare the responses with those of graphql-js. */
  execute?: Execute;
  /** How loaders cache reference data and batch REST calls. */
  loading: LoadingOptions;
  /** The maximum sizes of documents and variables. */
  limits: Limits;
  /** The log for one line per operation. By default nothing is logged. */
  log?: Log;
  /** The metrics to update. By default nothing is counted. */
  metrics?: Metrics | undefined;
  /** Whether the application serves `GET /metrics`, by default false. */
  showMetrics?: boolean;
  /** Creates spans of operations and REST calls. Undefined when tracing is off. */
  tracing?: Tracing | undefined;
  /** The store of idempotency keys and locks. Its secret is the key of the hashes of access tokens, too. */
  keyStore: KeyStore;
  /** Names the REST service in the store: its URL, or `sandbox`. */
  service: string;
  /** Shares rejected access tokens with other processes. By default nothing is shared. */
  tokenRejections?: TokenRejections;
  /** The maximum size of a request body in bytes. */
  maxBodyBytes: number;
  /** The maximum number of bytes buffered for all incomplete request bodies together, by default 64 MiB. */
  bodyBytesAtOnce?: number;
  /** The budget of response bytes that no client has taken yet, by default 64 MiB. One token has half. */
  unreadBytesAtOnce?: number;
  /** The points that each token gets per second, by default 0: no rate limit. */
  pointsPerSecond?: number;
  /** The maximum number of concurrent requests per route. */
  loadShedding: LoadSheddingLimits;
  /** How long a label request waits for a slot, in milliseconds. By default 10 seconds. */
  labelWaitMs?: number;
  /** The origins whose pages may call this server from a browser, by default none. */
  corsOrigins?: readonly string[] | undefined;
  /** Whether responses are compressed for clients that accept it. */
  compressResponses: boolean;
  /** Whether clients reach this server by HTTPS, by default false. */
  isHttps?: boolean;
  /** Tracks running mutations, so that a shutdown can wait for them. Optional. */
  mutations?: RunningMutations;
  /** The readiness that `/health/ready` reports, by default always ready. */
  health?: Health;
  /** Whether operations of cached documents take the fast path, by default true. Responses do not depend on it. */
  fastPath?: boolean;
}

/** Shares rejected access tokens between processes with the same `secret`, by tenant id. */
export interface TokenRejections {
  /** Sends the id of a tenant to all other processes. */
  publish(tenantId: string): void;
  /** Calls `onRejected` with each tenant id that another process publishes. */
  subscribe(onRejected: (tenantId: string) => void): void;
}

/** The application as a request listener of a Node server, and as a `fetch` function. */
export interface App {
  (request: IncomingMessage, response: ServerResponse): void;
  fetch: YogaServerInstance<NodeContext, object>['fetch'];
}

/**
 * Creates the HTTP application. It opens no socket.
 *
 * The way of a request:
 * 1. The fast path (graphql/fast-path.ts) responds to a POST with common headers and a cached document, without Yoga
 *    (docs/decisions/0002-fast-path-beside-yoga.md).
 * 2. Every other request goes to Yoga, and so does a request that the fast path cannot complete. The array `plugins`
 *    below lists Yoga's plugins in the order in which they run.
 *
 * Both ways run the operation with the same `runOperation` and write the same log line.
 * @throws TrustedDocumentsError if a trusted document is not valid.
 */
export function createApp(options: AppOptions): App {
  const { keyStore, service, api } = options;
  const loaderStates = createLoaderStates(options.loading, { observer: options.metrics?.loading });
  const tenants = createTenants({ secret: keyStore.secret });
  const digest = createDigest(keyStore.secret);
  const merchants = createMerchants({ api, store: keyStore, digest, service });
  const tokenRejections = options.tokenRejections ?? { publish: () => {}, subscribe: () => {} };
  const forget = (tenant: Tenant) => {
    loaderStates.forget(tenant);
    merchants.forget(tenant);
  };
  tokenRejections.subscribe((id) => {
    tenants.reject(id);
    const tenant = tenants.withId(id);
    if (tenant !== undefined) forget(tenant);
  });
  const shared = {
    callContexts: createCallContexts({
      ...options,
      tenants,
      onTokenRejected(tenant) {
        forget(tenant);
        tokenRejections.publish(tenant.id);
      },
    }),
    loaderStates,
    idempotency: createIdempotency({ store: keyStore, merchants, report: options.report }),
  };
  const { metrics, mutations, tracing, limits, compressResponses, report, log = silentLog } = options;
  const loadShedder = createLoadShedder(options.loadShedding);
  const cors = createCors(options.corsOrigins ?? [], log);
  const headers = createResponseHeaders({ cors, isHttps: options.isHttps ?? false, compressResponses });
  const isTokenKnown = (headers: HeaderReader) => {
    const bearer = bearerOf(headers);
    return typeof bearer === 'string' && tenants.isRemembered(bearer);
  };
  const { documents, documentLookup } = createDocumentSources(
    schema,
    limits,
    options,
    isTokenKnown,
    metrics?.documentRead,
  );
  const isPrivate = options.schemaAccess === 'private';
  metrics?.showCallsWaiting(shared.callContexts.callsWaiting);
  const maskedErrors = createMaskedErrors(options.report);
  const accessLog = createAccessLog({
    log,
    maskedErrors,
    observer: metrics?.requests,
    tracing,
  });
  const requestOptions = {
    maxBodyBytes: options.maxBodyBytes,
    budget: createBodyBudget(options.bodyBytesAtOnce ?? defaultBodyBudgetBytes),
    loadShedder,
  };
  const runOperation = createOperationRunner({
    schema,
    execute: options.execute ?? createExecutor(schema, isPrivate),
    limits,
    loadShedder,
    isAccepted: (tenant) => tenants.isAccepted(tenant),
    requestsAtOnce: options.loadShedding.graphql,
    unreadBytesAtOnce: options.unreadBytesAtOnce ?? defaultUnreadBudgetBytes,
    pointsPerSecond: options.pointsPerSecond ?? 0,
    shared,
    context: options,
    mutations,
    tracing,
  });

  const yoga = createYoga<NodeContext>({
    schema,
    maskedErrors: { maskError: maskedErrors.mask },
    // Yoga's GraphiQL and landing page load scripts from other origins.
    graphiql: false,
    landingPage: false,
    // Disables Yoga's health check, which responds to every URL that ends with this text. No URL ends with a space.
    healthCheckEndpoint: ' ',
    multipart: false,
    cors: false,
    logging: false,
    // readYogaRequest limits the body size, at a fraction of the cost of Yoga's limit.
    maxRequestBodySize: false,
    // cachedDocuments replaces Yoga's cache and limits the cache size in bytes.
    parserAndValidationCache: false,
    extraParamNames: idParameters,
    // Each kind of hook runs in this order. An `onRequest` hook that sets a response skips all later ones.
    plugins: [
      // Every request: compression, request id, log line, response headers, CORS preflights.
      compressResponses && compressedResponses(report),
      loggedRequests(accessLog),
      responseHeaders(headers, cors),
      // Other routes than GraphQL requests. notFoundRoute then rejects every path but /graphql.
      healthRoute(options.health ?? createHealth(async () => undefined)),
      !isPrivate &&
        graphiql({
          bearer: options.graphiqlBearer,
          liveHost: options.graphiqlLiveHost,
          trustedDocuments: options.trustedDocuments,
          compressResponses,
          report,
        }),
      metrics !== undefined && options.showMetrics === true && metricsRoute(metrics),
      labelRoute({
        api: options.api,
        callContexts: shared.callContexts,
        queue: new LabelQueue({
          requestsAtOnce: options.loadShedding.label,
          waitMs: options.labelWaitMs,
        }),
        isTokenAccepted: tenants.isRemembered,
        report: options.report,
        tracing,
      }),
      notFoundRoute(),
      // GraphQL requests: check the head, read the body, find the document text, parse and validate the document.
      readYogaRequest(requestOptions),
      persistedDocuments(documentLookup),
      cachedDocuments(documents),
      // Errors: hide names of a private schema, shorten the error list, add error codes.
      isPrivate && hiddenSuggestions(),
      truncatedErrors(),
      validationErrors(options.report),
      // Execution.
      yogaOperations(runOperation),
    ],
  });
  if (options.fastPath === false) return yoga;
  const fastPathOptions = {
    ...requestOptions,
    accessLog,
    responseHeaders: headers,
    compressResponses,
    report,
    maskedErrors,
    documentLookup,
    documents,
    runOperation,
  };
  return Object.assign(fastPath(fastPathOptions, yoga), { fetch: yoga.fetch });
}
