import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { totalsOf } from '../../rest/ledger.ts';
import type { OperationContext } from '../context.ts';
import type { MaskedErrors } from '../masked-errors.ts';
import { requestCost, tenths } from '../show-cost.ts';
import {
  countError,
  createExchange,
  type Exchange,
  type ExchangeContext,
  type RequestObserver,
} from './exchange.ts';
import type { Log } from './log.ts';
import { createRequestIds } from './request-ids.ts';

/**
 * Gives each request an id, says it in the answer's header `x-request-id`, and writes a line of each operation and each
 * label. `observer` is told here too, as a plugin of its own would cost each request more than what it counts. Stands before
 * all other plugins, as these may answer a request by themselves.
 */
export function requestLog(
  log: Log,
  maskedErrors: MaskedErrors,
  observer?: RequestObserver | undefined,
): Plugin<OperationContext, ExchangeContext> {
  const requestIdOf = createRequestIds();

  return {
    onRequest({ request, serverContext }) {
      serverContext.exchange = createExchange(requestIdOf(request.headers.get('x-request-id')));
      observer?.began(serverContext.exchange);
    },
    // What is parsed as an operation is neither GraphiQL's nor a label, nor has another address.
    onRequestParse({ serverContext: { exchange } }) {
      if (exchange !== undefined) exchange.route = 'graphql';
    },
    onExecute({ args }) {
      const context: OperationContext & ExchangeContext = args.contextValue;
      const { exchange } = context;
      if (exchange === undefined) return;
      exchange.operation = getOperationAST(args.document, args.operationName) ?? undefined;
      if (!('missingBearer' in context)) exchange.caller = context;
    },
    onResultProcess({ result, serverContext: { exchange } }) {
      // A list of results is Yoga's for batches and a stream is a subscription's; there are neither.
      if (exchange === undefined || !('errors' in result)) return;
      // What has run has data, be it null.
      exchange.isRefused = result.data === undefined;
      for (const error of result.errors ?? []) {
        countError(exchange, String(error.extensions.code));
        maskedErrors.report(error, exchange.requestId);
      }
    },
    onResponse({ request, response, serverContext }) {
      // The library answers some requests before any plugin sees them.
      const { exchange = createExchange(requestIdOf(request.headers.get('x-request-id'))) } = serverContext;
      response.headers.set('x-request-id', exchange.requestId);
      observer?.answered(exchange, response.status, request.signal.aborted);
      if (log.isLevelEnabled(exchange.route === undefined ? 'debug' : 'info')) {
        write(log, exchange, response.status, request.signal.aborted);
      }
    },
  };
}

function write(log: Log, exchange: Exchange, status: number, isAborted: boolean): void {
  const { requestId, startedAt, route, operation, caller, joined, errors } = exchange;
  const totals = caller && totalsOf(caller.ledger);
  const fields = {
    requestId,
    route,
    operation: nameToTell(operation?.name?.value),
    type: operation?.operation,
    // Enough to tell callers apart, and too little to be looked up.
    tenant: caller?.tenant.id.slice(0, 12),
    status,
    ms: tenths(performance.now() - startedAt),
    restMs: totals && tenths(totals.restMs),
    calls: totals?.calls,
    shared: totals?.shared,
    cached: caller?.ledger.cached,
    savedByList: caller?.ledger.savedByList,
    bytes: totals?.bytes,
    retries: totals?.retries,
    joined: joined || undefined,
    aborted: isAborted || undefined,
    errors,
  };
  if (route === undefined) log.debug(fields, 'answered');
  else log.info(fields, 'answered');
  if (caller === undefined || !log.isLevelEnabled('debug')) return;
  for (const entry of caller.ledger.entries) {
    const { askedBy, ...cost } = requestCost(entry);
    log.debug({ requestId, ...cost }, 'called REST');
  }
}

/** A name is the client's to choose; one that is longer than any that people give is not for the log. */
export function nameToTell(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= 64 ? name : undefined;
}
