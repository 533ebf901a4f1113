import type { RequestListener } from 'node:http';
import { createYoga, type YogaServerOptions } from 'graphql-yoga';
import type { LoopTurns } from '../concurrency/loop-turns.ts';
import type { RunningMutations } from '../concurrency/running-mutations.ts';
import type { Config } from '../config/config.ts';
import { schema } from '../graph/schema.ts';
import { createLabelDocuments } from '../printing/label-documents.ts';
import { createPdfMaker, type PdfMakerOptions } from '../printing/pdf-maker.ts';
import type { DocumentStore } from '../printing/store/document-store.ts';
import type { RestApi } from '../rest/api.ts';
import type { ReportError } from '../telemetry/error-report.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/otlp-tracing.ts';
import { createRefusedOriginLog } from '../telemetry/refused-origins.ts';
import type { KeyStore } from '../writes/store/key-store.ts';
import { createDocumentCache } from './documents/document-cache.ts';
import { automaticPersistedQueries } from './documents/persisted-queries.ts';
import { validationByAccess } from './documents/schema-access.ts';
import { onlyTrustedDocuments, type TrustedDocuments } from './documents/trusted-documents.ts';
import { createExecutor, type Execute } from './execution/executor.ts';
import { createFastPath } from './graphql/fast-path.ts';
import { createStreamRequests } from './graphql/stream-requests.ts';
import { yogaAccessLog } from './graphql/yoga-access-log.ts';
import { yogaCompression } from './graphql/yoga-compression.ts';
import type { YogaContext } from './graphql/yoga-context.ts';
import { idParameters, yogaDocumentIds, yogaDocuments } from './graphql/yoga-documents.ts';
import { yogaEtag } from './graphql/yoga-etag.ts';
import { yogaExecution } from './graphql/yoga-execution.ts';
import { yogaHeaders } from './graphql/yoga-headers.ts';
import { yogaRequest } from './graphql/yoga-request.ts';
import { createBodyBudget, defaultMaxBodyBytes } from './http/request-body.ts';
import { createResponseHeaders } from './http/response-headers.ts';
import { defaultUnreadBudgetBytes } from './http/unread-response-bytes.ts';
import { parseWithin, validateWithin } from './limits/document-limits.ts';
import { fixedLimits, type Limits } from './limits/limits.ts';
import { createRateLimit } from './limits/points-bucket.ts';
import { createLive } from './live/live.ts';
import type { OpenStreams } from './live/open-streams.ts';
import { createOperationReader } from './live/watched-operation.ts';
import { createAccessLog } from './operations/access-log.ts';
import { Admission } from './operations/admission.ts';
import { createContextFactory } from './operations/operation-context.ts';
import { createOperationRunner } from './operations/operation-runner.ts';
import { createTokenMemory } from './operations/token-memory.ts';
import { yogaDocumentRoute } from './routes/documents.ts';
import { yogaGraphiqlRoute } from './routes/graphiql/graphiql.ts';
import { type Health, yogaHealthRoute } from './routes/health.ts';
import { createLabelQueue, createLabelSlots } from './routes/label-queue.ts';
import { yogaLabelRoute } from './routes/labels.ts';
import { yogaMetricsRoute } from './routes/metrics.ts';
import { yogaNotFoundRoute } from './routes/not-found.ts';

/** The settings and resources of the application. What is undefined is off. */
export interface AppOptions {
  config: Config;
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
  tracing: Tracing | undefined;
  keyStore: KeyStore;
  /** The store of documents. `close` of the application closes it. */
  documentStore: DocumentStore;
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
  labelDownloadMs?: number;
  /** The time limit of unread response bytes, and of a label at REST. */
  responseTimeoutMs?: number;
  referenceGraceMs?: number;
  processingMs?: number;
  pdfMaker?: PdfMakerOptions;
}

export interface App {
  listener: RequestListener;
  /** Ends what the application has started beside its requests. */
  close(): Promise<void>;
}

/**
 * The HTTP application, as the listener of a Node server. Both ways run an operation with the same `runOperation` and write
 * the same log line:
 * - The fast path (graphql/fast-path.ts) responds to a POST with common headers and a cached document.
 * - Yoga gets every request that the fast path cannot complete. Its plugins are in the order in which they run.
 * @throws TrustedDocumentsError if a trusted document is not valid.
 */
export function createApp(options: AppOptions): App {
  const { config, api, metrics, tracing, report, log, trustedDocuments } = options;
  const forTests = options.forTests ?? {};
  const limits = { ...fixedLimits, nodes: config.maxNodes, ...forTests.limits };

  // What lives between requests: documents of labels, what is known of access tokens, and the turns of requests.
  const labelSlots = createLabelSlots(forTests.labelRequestsAtOnce);
  const enterLabelQueue = createLabelQueue(labelSlots, forTests.labelWaitMs, forTests.labelDownloadMs);
  const labelDocuments = createLabelDocuments({
    api,
    slots: labelSlots,
    maker: createPdfMaker(forTests.pdfMaker),
    store: options.documentStore,
    operationTimeoutMs: config.operationTimeoutMs,
  });
  const tokens = createTokenMemory({
    settings: { ...config, ...forTests },
    api,
    keyStore: options.keyStore,
    service: options.service,
    metrics,
    report,
    onTokenRejected: labelDocuments.onTokenRejected,
  });
  const admission = new Admission({
    requestsAtOnce: config.graphqlRequestsAtOnce,
    maxNodes: limits.nodes,
    unreadBytesAtOnce: forTests.unreadBytesAtOnce ?? defaultUnreadBudgetBytes,
    turns: options.turns,
  });
  const { pointsPerSecond } = config;
  const rateLimit = pointsPerSecond > 0 ? createRateLimit(pointsPerSecond, metrics?.rateLimited) : undefined;

  // How a document is found and read.
  const documents = createDocumentCache(
    {
      parse(text) {
        metrics?.documentRead();
        return parseWithin(limits, text);
      },
      validate: (document) =>
        validateWithin(limits, schema, document, validationByAccess[config.schemaAccess]),
    },
    forTests.documentCacheBytes,
  );
  const documentPolicy =
    trustedDocuments === undefined
      ? automaticPersistedQueries(tokens.isTokenAccepted, forTests.persistedQueryBytes)
      : onlyTrustedDocuments(documents, trustedDocuments);

  // How an operation runs.
  const runOperation = createOperationRunner({
    schema,
    limits,
    documents,
    toOwner: tokens.owner,
    createContext: createContextFactory({
      settings: config,
      api,
      tokens,
      labelDocuments,
      publicUrl: options.publicUrl,
      report,
    }),
    shared: {
      execute: forTests.execute ?? createExecutor(schema, config.schemaAccess === 'private'),
      admission,
      rateLimit,
      mutations: options.mutations,
    },
    tracing,
  });

  // What both ways of a request need, from its body to its log line.
  const bodies = {
    maxBodyBytes: forTests.maxBodyBytes ?? defaultMaxBodyBytes,
    budget: createBodyBudget(forTests.bodyBytesAtOnce),
    admission,
  };
  const logRefusedOrigin = createRefusedOriginLog(log);
  const responseHeaders = createResponseHeaders(config, (origin) => {
    metrics?.originRefused();
    logRefusedOrigin(origin);
  });
  const accessLog = createAccessLog(log, metrics?.requests, tracing);

  const yoga = createYogaOf([
    // Every request: ETag and 304, compression, request id, log line, error codes, response headers, CORS preflights.
    yogaEtag(),
    config.compressResponses && yogaCompression(report),
    yogaAccessLog(accessLog, admission.unread, report),
    yogaHeaders(responseHeaders),
    // Other routes than GraphQL requests. yogaNotFoundRoute then rejects every path but /graphql.
    yogaHealthRoute(options.health),
    config.schemaAccess === 'public' &&
      yogaGraphiqlRoute({
        bearer: options.graphiqlBearer,
        liveHost: options.graphiqlLiveHost,
        trustedDocuments,
        compressResponses: config.compressResponses,
        report,
      }),
    metrics !== undefined && config.metricsPort === undefined && yogaMetricsRoute(metrics),
    yogaLabelRoute({
      api,
      callContexts: tokens.callContexts,
      enterQueue: enterLabelQueue,
      onToken: labelDocuments.noteToken,
      rateLimit,
      report,
      tracing,
    }),
    yogaDocumentRoute({ documents: labelDocuments, enterQueue: enterLabelQueue, report }),
    yogaNotFoundRoute(),
    // GraphQL requests: check the head, read the body, find the document text, parse and validate the document.
    yogaRequest(bodies),
    yogaDocumentIds(documentPolicy),
    yogaDocuments(documents, admission, tokens.owner),
    yogaExecution(runOperation),
  ]);
  if (forTests.fastPath === false) return { listener: yoga, close: labelDocuments.close };
  const live = createLive({
    intervalMs: config.liveIntervalMs,
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
  const listener = createFastPath({
    bodies,
    documentPolicy,
    documents,
    accessLog,
    responseHeaders,
    unread: admission.unread,
    compressResponses: config.compressResponses,
    report,
    runOperation,
    runStream: createStreamRequests({ live, documentPolicy, documents, admission, toOwner: tokens.owner }),
    fallback: yoga,
  });
  return { listener, close: labelDocuments.close };
}

/**
 * Yoga without the parts that this server has itself, or does not serve.
 * @param plugins each kind of hook runs in this order. An `onRequest` hook that sets a response skips all later ones.
 */
function createYogaOf(plugins: NonNullable<YogaServerOptions<YogaContext, object>['plugins']>) {
  return createYoga<YogaContext>({
    schema,
    plugins,
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
    // yogaRequest limits the body size, at a fraction of the cost of Yoga's limit.
    maxRequestBodySize: false,
    // yogaDocuments replaces Yoga's cache and limits the cache size in bytes.
    parserAndValidationCache: false,
    extraParamNames: idParameters,
  });
}
