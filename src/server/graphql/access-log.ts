import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { totalsOf } from '../../rest/client/call-log.ts';
import type { Log } from '../../telemetry/log.ts';
import { createRequestIds } from '../../telemetry/request-ids.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import {
  countError,
  createExchange,
  type Exchange,
  type ExchangeContext,
  nameToTell,
  type RequestObserver,
} from '../../telemetry/request-record.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { requestCost, tenths } from './cost-report.ts';
import type { MaskedErrors } from './error-mapping.ts';

/** What is noted of each request, for its line in the log, for metrics and for traces. */
export interface RequestLog {
  /** A request is here. `givenId` is what its header `x-request-id` says. */
  begin(givenId: unknown): Exchange;
  /** Notes the errors of an answer, as they are told, and reports those that are masked. */
  noteResult(exchange: Exchange, result: ExecutionResult): void;
  /** Once for each request: it is answered with this status, or nobody takes the answer any more. */
  answered(exchange: Exchange, headers: HeaderReader, status: number, isAborted: boolean): void;
}

export interface RequestLogOptions {
  log: Log;
  maskedErrors: MaskedErrors;
  /** Told here too, as a hook of its own would cost each request more than what it counts. */
  observer: RequestObserver | undefined;
  tracing: Tracing | undefined;
}

/** Gives each request an id, and writes a line of each operation and each label. */
export function createRequestLog({ log, maskedErrors, observer, tracing }: RequestLogOptions): RequestLog {
  const requestIdOf = createRequestIds();
  return {
    begin(givenId) {
      const exchange = createExchange(requestIdOf(givenId));
      observer?.began(exchange);
      return exchange;
    },
    noteResult(exchange, { data, errors }) {
      // What has run has data, be it null.
      exchange.isRefused = data === undefined;
      for (const error of errors ?? []) {
        countError(exchange, String(error.extensions.code));
        maskedErrors.report(error, exchange.requestId);
      }
    },
    answered(exchange, headers, status, isAborted) {
      observer?.answered(exchange, status, isAborted);
      if (log.isLevelEnabled(exchange.route === undefined ? 'debug' : 'info')) {
        write(log, exchange, status, isAborted);
      }
      tracing?.end(exchange, headers, status);
    },
  };
}

/**
 * Has the log follow the requests that Yoga answers, and says their ids in the header `x-request-id`. Stands before all
 * other plugins, as these may answer a request by themselves.
 */
export function loggedRequests(
  requestLog: RequestLog,
): Plugin<object, ExchangeContext & { res?: ServerResponse }> {
  return {
    onRequest({ request, serverContext }) {
      serverContext.exchange ??= requestLog.begin(request.headers.get('x-request-id'));
    },
    // What is parsed as an operation is neither GraphiQL's nor a label, nor has another address.
    onRequestParse({ serverContext: { exchange } }) {
      if (exchange !== undefined) exchange.route = 'graphql';
    },
    onResultProcess({ result, serverContext: { exchange } }) {
      // A list of results is Yoga's for batches and a stream is a subscription's; there are neither.
      if (exchange !== undefined && 'errors' in result) requestLog.noteResult(exchange, result);
    },
    onResponse({ request, response, serverContext }) {
      const { headers, signal } = request;
      // The library answers some requests before any plugin sees them.
      const { exchange = requestLog.begin(headers.get('x-request-id')) } = serverContext;
      response.headers.set('x-request-id', exchange.requestId);
      // The library listens for the end of a connection, which may be behind it.
      const isAborted = signal.aborted || serverContext.res?.destroyed === true;
      requestLog.answered(exchange, headers, response.status, isAborted);
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
