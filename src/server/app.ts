import type { RequestListener } from 'node:http';
import { createYoga } from 'graphql-yoga';
import type { LoopTurns } from '../concurrency/loop-turns.ts';
import type { RunningMutations } from '../concurrency/running-mutations.ts';
import { schema } from '../graph/schema.ts';
import type { RestApi } from '../rest/api.ts';
import type { ReportError } from '../telemetry/error-report.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/otlp-tracing.ts';
import { createRefusedOriginLog } from '../telemetry/refused-origins.ts';
import type { KeyStore } from '../writes/store/key-store.ts';
import { createDocumentCache } from './documents/document-cache.ts';
import { automaticPersistedQueries } from './documents/persisted-queries.ts';
import { type SchemaAccess, validationByAccess } from './documents/schema-access.ts';
import { onlyTrustedDocuments, type TrustedDocuments } from './documents/trusted-documents.ts';
import { createExecutor, type Execute } from './execution/executor.ts';
import { createFastPath } from './graphql/fast-path.ts';
import { createStreamRequests } from './graphql/stream-requests.ts';
import { yogaAccessLog } from './graphql/yoga-access-log.ts';
import { compressedResponses } from './graphql/yoga-compression.ts';
import { cachedDocuments, idParameters, persistedDocuments } from './graphql/yoga-documents.ts';
import { yogaOperations } from './graphql/yoga-execution.ts';
import { yogaHeaders } from './graphql/yoga-headers.ts';
import { readYogaRequest } from './graphql/yoga-request.ts';
import type { NodeContext } from './http/node-context.ts';
import { createBodyBudget, defaultMaxBodyBytes } from './http/request-body.ts';
import { createResponseHeaders } from './http/response-headers.ts';
import { defaultUnreadBudgetBytes } from './http/unread-bytes.ts';
import { parseWithin, validateWithin } from './limits/document-limits.ts';
import { fixedLimits, type Limits } from './limits/limits.ts';
import { createRateLimit } from './limits/rate-limit.ts';
import { createLive } from './live/live.ts';
import type { OpenStreams } from './live/open-streams.ts';
import { createOperationReader } from './live/watched-operation.ts';
import { createAccessLog } from './operations/access-log.ts';
import { Admission } from './operations/admission.ts';
import { createContextFactory } from './operations/operation-context.ts';
import { createOperationRunner } from './operations/operation-runner.ts';
import { createTokenState } from './operations/token-state.ts';
import { graphiql } from './routes/graphiql/graphiql.ts';
import { type Health, healthRoute } from './routes/health.ts';
import { createLabelQueue } from './routes/label-queue.ts';
import { labelRoute } from './routes/labels.ts';
import { metricsRoute } from './routes/metrics.ts';
import { notFoundRoute } from './routes/not-found.ts';

/** The settings of the application. src/config describes them. */
export interface AppSettings {
  schemaAccess: SchemaAccess;
  currency: string;
  operationTimeoutMs: number;
  showCost: boolean;
  maxNodes: number;
  readsPerOperation: number;
  callsAtOnce: number;
  /** 0: no rate limit. */
  pointsPerSecond: number;
  referenceMs: number;
  listsForBatches: boolean;
  graphqlRequestsAtOnce: number;
  /** The shortest time between two runs of a subscription. */
  liveIntervalMs: number;
  corsOrigins: readonly string[] | undefined;
  compressResponses: boolean;
  /** Whether clients reach this server by HTTPS. */
  isHttps: boolean;
}

/** The settings and resources of the application. What is undefined is off. */
export interface AppOptions {
  settings: AppSettings;
  api: RestApi;
  /** Called with every error that is masked for clients. */
  report: ReportError;
  /** The base URL by which clients reach this server. */
  publicUrl: () => URL;
  trustedDocuments: TrustedDocuments | undefined;
  /** The access token that GraphiQL starts with. Undefined: GraphiQL shows a placeholder. */
  graphiqlBearer: string | undefined;
  /** The host that GraphiQL names as a live service. Undefined in the sandbox. */
  graphiqlLiveHost: string | undefined;
  log: Log;
  metrics: Metrics | undefined;
  /** Whether the application serves `GET /metrics`. */
  showMetrics: boolean;
  tracing: Tracing | undefined;
  keyStore: KeyStore;
  /** Names the REST service in the store: its URL, or `sandbox`. */
  service: string;
  /** Tracks running mutations, so that a shutdown can wait for them. */
  mutations: RunningMutations;
  /** The turns of the event loop, which knows of new connections. */
  turns: LoopTurns;
  /** The open streams, so that a shutdown can end them. */
  streams: OpenStreams;
  health: Health;
  forTests: TestOptions | undefined;
}

/** Limits and parts that a test replaces. The defaults are beside their use. */
export interface TestOptions {
  execute?: Execute;
  /** Whether operations of cached documents take the fast path. */
  fastPath?: boolean;
  limits?: Partial<Limits>;
  maxBodyBytes?: number;
  bodyBytesAtOnce?: number;
  unreadBytesAtOnce?: number;
  documentCacheBytes?: number;
  persistedQueryBytes?: number;
  labelRequestsAtOnce?: number;
  labelWaitMs?: number;
  /** The time limit of unread response bytes, and of a label at REST. */
  responseTimeoutMs?: number;
  referenceGraceMs?: number;
  processingMs?: number;
}

/**
 * The HTTP application, as the listener of a Node server.
 *
 * The fast path (graphql/fast-path.ts) responds to a POST with common headers and a cached document. Every request that it
 * cannot complete goes to Yoga, whose plugins are below in the order in which they run. Both ways run the operation with the
 * same `runOperation` and write the same log line.
 * @throws TrustedDocumentsError if a trusted document is not valid.
 */
export function createApp(options: AppOptions): RequestListener {
  const { settings, api, metrics, tracing, report } = options;
  const forTests = options.forTests ?? {};
  const { compressResponses, pointsPerSecond } = settings;
  const limits = { ...fixedLimits, nodes: settings.maxNodes, ...forTests.limits };
  const isPrivate = settings.schemaAccess === 'private';
  const tokens = createTokenState({
    api,
    keyStore: options.keyStore,
    service: options.service,
    loading: {
      referenceMs: settings.referenceMs,
      referenceGraceMs: forTests.referenceGraceMs,
      listsForBatches: settings.listsForBatches,
    },
    readsPerOperation: settings.readsPerOperation,
    callsAtOnce: settings.callsAtOnce,
    metrics,
    report,
    processingMs: forTests.processingMs,
  });
  const admission = new Admission({
    requestsAtOnce: settings.graphqlRequestsAtOnce,
    maxNodes: limits.nodes,
    unreadBytesAtOnce: forTests.unreadBytesAtOnce ?? defaultUnreadBudgetBytes,
    turns: options.turns,
  });
  const rateLimit = pointsPerSecond > 0 ? createRateLimit(pointsPerSecond, metrics?.rateLimited) : undefined;
  const logRefusedOrigin = createRefusedOriginLog(options.log);
  const responseHeaders = createResponseHeaders(
    { corsOrigins: settings.corsOrigins ?? [], isHttps: settings.isHttps, compressResponses },
    (origin) => {
      metrics?.originRefused();
      logRefusedOrigin(origin);
    },
  );
  const documents = createDocumentCache(
    {
      parse(text) {
        metrics?.documentRead();
        return parseWithin(limits, text);
      },
      validate: (document) =>
        validateWithin(limits, schema, document, validationByAccess[settings.schemaAccess]),
    },
    forTests.documentCacheBytes,
  );
  const documentPolicy =
    options.trustedDocuments === undefined
      ? automaticPersistedQueries(tokens.isTokenAccepted, forTests.persistedQueryBytes)
      : onlyTrustedDocuments(documents, options.trustedDocuments);
  const accessLog = createAccessLog(options.log, metrics?.requests, tracing);
  const bodies = {
    maxBodyBytes: forTests.maxBodyBytes ?? defaultMaxBodyBytes,
    budget: createBodyBudget(forTests.bodyBytesAtOnce),
    admission,
  };
  const runOperation = createOperationRunner({
    schema,
    limits,
    documents,
    toOwner: tokens.owner,
    createContext: createContextFactory({
      api,
      callContexts: tokens.callContexts,
      loaderStates: tokens.loaderStates,
      idempotency: tokens.idempotency,
      currency: settings.currency,
      operationTimeoutMs: settings.operationTimeoutMs,
      showCost: settings.showCost,
      publicUrl: options.publicUrl,
      report,
    }),
    runState: {
      execute: forTests.execute ?? createExecutor(schema, isPrivate),
      admission,
      rateLimit,
      mutations: options.mutations,
    },
    tracing,
  });

  const yoga = createYoga<NodeContext>({
    schema,
    // The parts of Yoga that this server has itself, or does not serve.
    multipart: false,
    cors: false,
    logging: false,
    // yogaAccessLog masks errors.
    maskedErrors: false,
    // Yoga's GraphiQL and landing page load scripts from other origins.
    graphiql: false,
    landingPage: false,
    // Disables Yoga's health check, which responds to every URL that ends with this text. No URL ends with a space.
    healthCheckEndpoint: ' ',
    // readYogaRequest limits the body size, at a fraction of the cost of Yoga's limit.
    maxRequestBodySize: false,
    // cachedDocuments replaces Yoga's cache and limits the cache size in bytes.
    parserAndValidationCache: false,
    extraParamNames: idParameters,
    // Each kind of hook runs in this order. An `onRequest` hook that sets a response skips all later ones.
    plugins: [
      // Every request: compression, request id, log line, error codes, response headers, CORS preflights.
      compressResponses && compressedResponses(report),
      yogaAccessLog(accessLog, admission.unread, report),
      yogaHeaders(responseHeaders),
      // Other routes than GraphQL requests. notFoundRoute then rejects every path but /graphql.
      healthRoute(options.health),
      !isPrivate &&
        graphiql({
          bearer: options.graphiqlBearer,
          liveHost: options.graphiqlLiveHost,
          trustedDocuments: options.trustedDocuments,
          compressResponses,
          report,
        }),
      metrics !== undefined && options.showMetrics && metricsRoute(metrics),
      labelRoute({
        api,
        callContexts: tokens.callContexts,
        enterQueue: createLabelQueue(forTests.labelRequestsAtOnce, forTests.labelWaitMs),
        rateLimit,
        report,
        tracing,
      }),
      notFoundRoute(),
      // GraphQL requests: check the head, read the body, find the document text, parse and validate the document.
      readYogaRequest(bodies),
      persistedDocuments(documentPolicy),
      cachedDocuments(documents, admission, tokens.owner),
      yogaOperations(runOperation),
    ],
  });
  if (forTests.fastPath === false) return yoga;
  const live = createLive({
    intervalMs: settings.liveIntervalMs,
    operations: createOperationReader(schema),
    streams: options.streams,
    toTenant: tokens.toTenant,
    toOwner: tokens.owner,
    runOperation,
    unread: admission.unread,
    responseHeaders,
    accessLog,
    metrics: metrics?.live,
    report,
  });
  return createFastPath({
    bodies,
    documentPolicy,
    documents,
    accessLog,
    responseHeaders,
    unread: admission.unread,
    compressResponses,
    report,
    runOperation,
    runStream: createStreamRequests({ live, documentPolicy, documents, admission, toOwner: tokens.owner }),
    fallback: yoga,
  });
}
