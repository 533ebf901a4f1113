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
import { endOfQuery } from './end-of-query.ts';
import { graphiql } from './graphiql.ts';
import { labelRoute } from './label-route.ts';
import type { ExchangeContext } from './log/exchange.ts';
import { type Log, silentLog } from './log/log.ts';
import { requestLog } from './log/request-log.ts';
import { createMaskedErrors } from './masked-errors.ts';
import { operationDeadline } from './operation-deadline.ts';
import { requestReading } from './request-reading.ts';
import { sharedOperations } from './shared-operations.ts';
import { showCost } from './show-cost.ts';
import { validationErrors } from './validation-errors.ts';

export interface AppOptions extends ContextOptions, Omit<CallersOptions, 'tenants'> {
  api: RestApi;
  /** The access token that GraphiQL starts with; undefined leaves its place empty. */
  graphiqlBearer?: string | undefined;
  /** Whether queries run as compiled functions; they do unless this says no. The answers are the same. */
  compileQueries?: boolean;
  /** How loaders save calls; as the settings' standards when left out. */
  loading?: LoadingOptions;
  /** Where a line of each operation goes; nowhere when left out. */
  log?: Log;
  /** Where the keys of writes are remembered; in memory when left out. */
  idempotencyStore?: IdempotencyStore;
  /** How many keys the store in memory holds at most; 20,000 when left out. */
  idempotencyKeys?: number;
}

export type App = YogaServerInstance<ExchangeContext, OperationContext>;

/** The whole HTTP application, as a `fetch` and as a listener for Node's server. Opens nothing. */
export function createApp(options: AppOptions): App {
  const shared = {
    callers: createCallers(options),
    memory: createLoaderMemory(options.loading),
    idempotency: createIdempotency({
      store: options.idempotencyStore ?? createMemoryStore({ maxKeys: options.idempotencyKeys }),
      report: options.report,
    }),
  };
  const maskedErrors = createMaskedErrors(options.report);
  return createYoga<ExchangeContext, OperationContext>({
    schema,
    context: ({ request, exchange }) => createContext(request, shared, options, exchange?.requestId),
    maskedErrors: { maskError: maskedErrors.mask },
    // GraphiQL and the landing page of the library load their scripts from elsewhere.
    graphiql: false,
    landingPage: false,
    multipart: false,
    cors: false,
    logging: false,
    plugins: [
      requestLog(options.log ?? silentLog, maskedErrors),
      graphiql({ bearer: options.graphiqlBearer }),
      labelRoute(options.api, shared.callers, options.report),
      requestReading(),
      validationErrors(options.report),
      authentication(),
      options.compileQueries !== false && compiledQueries(),
      showCost(),
      sharedOperations(),
      endOfQuery(),
      operationDeadline(),
    ],
  });
}
