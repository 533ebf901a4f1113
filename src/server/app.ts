import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { schema } from '../graph/schema.ts';
import { createLoaderMemory, type LoadingOptions } from '../loaders/memory.ts';
import type { RestApi } from '../rest/api.ts';
import { type CallersOptions, createCallers } from '../rest/caller.ts';
import { createIdempotency } from '../writes/idempotency.ts';
import { createMemoryStore, type IdempotencyStore } from '../writes/idempotency-store.ts';
import { authentication } from './authentication.ts';
import { compiledQueries } from './compiled-queries.ts';
import { type ContextOptions, createContext, type OperationContext } from './context.ts';
import { hiddenSuggestions } from './documents/hidden-suggestions.ts';
import { knownDocuments } from './documents/known-documents.ts';
import { createOperations, type DocumentOptions } from './documents/operations.ts';
import { idParameters, persistedDocuments } from './documents/persisted-documents.ts';
import { endOfQuery } from './end-of-query.ts';
import { graphiql } from './graphiql.ts';
import { createHealth, type Health } from './health.ts';
import { healthRoute } from './health-route.ts';
import { type AdmissionLimits, createAdmission, standardAdmission } from './http/admission.ts';
import { createBodyBudget, standardBodyBytesAtOnce } from './http/body-budget.ts';
import { createCors } from './http/cors.ts';
import { requestReading, standardMaxBodyBytes } from './http/request-reading.ts';
import { responseHeaders } from './http/response-headers.ts';
import { createTokenPlaces } from './http/token-places.ts';
import { labelRoute } from './label-route.ts';
import { type Limits, standardLimits } from './limits/limits.ts';
import { operationLimits, toldErrors } from './limits/request-limits.ts';
import type { ExchangeContext } from './log/exchange.ts';
import { type Log, silentLog } from './log/log.ts';
import { requestLog } from './log/request-log.ts';
import { createMaskedErrors } from './masked-errors.ts';
import { followedMutations, type MutationsUnderWay } from './mutations-under-way.ts';
import { operationDeadline } from './operation-deadline.ts';
import { sharedOperations } from './shared-operations.ts';
import { showCost } from './show-cost.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { metricsRoute } from './telemetry/metrics-route.ts';
import { type Tracing, tracedOperations } from './telemetry/tracing.ts';
import { unknownAddress } from './unknown-address.ts';
import { validationErrors } from './validation-errors.ts';

export interface AppOptions extends ContextOptions, DocumentOptions, Omit<CallersOptions, 'tenants'> {
  api: RestApi;
  /** The access token that GraphiQL starts with; undefined leaves its place empty. */
  graphiqlBearer?: string | undefined;
  /**
   * Whether queries run as compiled functions, from their first use on; from the third on when left out. The answers are
   * the same.
   */
  compileQueries?: boolean;
  /** How loaders save calls; as the settings' standards when left out. */
  loading?: LoadingOptions;
  /** How large documents and their values may be; as the settings' standards when left out. */
  limits?: Limits;
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
  /** How many keys the store in memory holds at most; 20,000 when left out. */
  idempotencyKeys?: number;
  /** How large the body of a request may be, in bytes; 1 MiB when left out. */
  maxBodyBytes?: number;
  /** How many bytes of bodies that are being sent are held at most; 64 MiB when left out. */
  bodyBytesAtOnce?: number;
  /** How many requests are under way at most; 1,000 for the graph and 32 for labels when left out. */
  admission?: AdmissionLimits;
  /** Origins whose pages may use this server from a browser; none when left out. */
  corsOrigins?: readonly string[] | undefined;
  /** Whether clients reach this server by https; they don't when left out. */
  isHttps?: boolean;
  /** Where mutations are followed, for an end that waits for them; nowhere when left out. */
  mutations?: MutationsUnderWay;
  /** What `/health/ready` says; always that it is ready when left out. */
  health?: Health;
}

export type App = YogaServerInstance<ExchangeContext, OperationContext>;

/**
 * The whole HTTP application, as a `fetch` and as a listener for Node's server. Opens nothing.
 * @throws OperationListError where documents of the list can't be run.
 */
export function createApp(options: AppOptions): App {
  const shared = {
    callers: createCallers(options),
    memory: createLoaderMemory(options.loading, { observer: options.metrics?.loading }),
    idempotency: createIdempotency({
      store: options.idempotencyStore ?? createMemoryStore({ maxKeys: options.idempotencyKeys }),
      report: options.report,
    }),
  };
  const limits = options.limits ?? standardLimits;
  const admitted = options.admission ?? standardAdmission;
  const admission = createAdmission(admitted);
  const cors = createCors(options.corsOrigins ?? []);
  const { metrics } = options;
  const { documents, operations } = createOperations(schema, limits, options, metrics?.documentRead);
  const isPrivate = options.schemaAccess === 'private';
  metrics?.showCallsWaiting(shared.callers.callsWaiting);
  const maskedErrors = createMaskedErrors(options.report);
  return createYoga<ExchangeContext, OperationContext>({
    schema,
    context: ({ request, exchange }) => createContext(request, shared, options, exchange?.requestId),
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
      requestLog(options.log ?? silentLog, maskedErrors, metrics?.requests),
      responseHeaders({ cors, isHttps: options.isHttps ?? false }),
      healthRoute(options.health ?? createHealth(async () => undefined)),
      !isPrivate && graphiql({ bearer: options.graphiqlBearer, operationList: options.operationList }),
      metrics !== undefined && options.showMetrics === true && metricsRoute(metrics),
      options.tracing !== undefined && tracedOperations(options.tracing),
      labelRoute({
        api: options.api,
        callers: shared.callers,
        admission,
        places: createTokenPlaces(admitted.label, 'Requests for labels'),
        report: options.report,
        tracing: options.tracing,
      }),
      unknownAddress(),
      requestReading({
        maxBodyBytes: options.maxBodyBytes ?? standardMaxBodyBytes,
        budget: createBodyBudget(options.bodyBytesAtOnce ?? standardBodyBytesAtOnce),
        admission,
      }),
      persistedDocuments(operations),
      knownDocuments(documents),
      toldErrors(limits),
      validationErrors(options.report),
      authentication(),
      operationLimits(schema, limits),
      options.compileQueries !== false && compiledQueries(options.compileQueries === true ? 1 : undefined),
      isPrivate && hiddenSuggestions(),
      showCost(),
      sharedOperations(),
      endOfQuery(),
      options.mutations !== undefined && followedMutations(options.mutations),
      operationDeadline(),
    ],
  });
}
