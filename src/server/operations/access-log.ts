import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { sumCalls } from '../../rest/client/call-log.ts';
import type { Log } from '../../telemetry/log.ts';
import { createRequestIds } from '../../telemetry/request-ids.ts';
import {
  countError,
  createRequestRecord,
  type HeaderReader,
  loggableName,
  type RequestObserver,
  type RequestRecord,
  type RequestRecordContext,
} from '../../telemetry/request-record.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { requestCost, roundToTenths } from './cost-report.ts';
import type { ErrorMasker } from './error-mapping.ts';

/** Keeps the record of each request, for its log line, metrics and traces. */
export interface AccessLog {
  /** Starts the record of a request. `requestIdHeader` is the value of the header `x-request-id`. */
  begin(requestIdHeader: unknown): RequestRecord;
  /** Counts the errors of a response by code, and reports the masked errors. */
  recordResult(requestRecord: RequestRecord, result: ExecutionResult): void;
  /** Ends the record; called once per request. `isAborted`: the client closed the connection before the response. */
  finish(requestRecord: RequestRecord, headers: HeaderReader, status: number, isAborted: boolean): void;
}

/** What `createAccessLog` needs. */
export interface AccessLogOptions {
  log: Log;
  errorMasker: ErrorMasker;
  /** Metrics. The access log calls the observer, because a Yoga plugin of its own would cost more. */
  observer: RequestObserver | undefined;
  tracing: Tracing | undefined;
}

/** Gives each request an id. Logs one line per operation and per label, and per other request at level debug. */
export function createAccessLog({ log, errorMasker, observer, tracing }: AccessLogOptions): AccessLog {
  const requestIdOf = createRequestIds();
  return {
    begin(requestIdHeader) {
      const requestRecord = createRequestRecord(requestIdOf(requestIdHeader));
      observer?.onRequestStarted(requestRecord);
      return requestRecord;
    },
    recordResult(requestRecord, { data, errors }) {
      // A result of an executed operation has `data`, which may be null.
      requestRecord.isRejected = data === undefined;
      for (const error of errors ?? []) {
        countError(requestRecord, String(error.extensions.code));
        errorMasker.report(error, requestRecord.requestId);
      }
    },
    finish(requestRecord, headers, status, isAborted) {
      observer?.onRequestFinished(requestRecord, status, isAborted);
      if (log.isLevelEnabled(requestRecord.route === undefined ? 'debug' : 'info')) {
        writeLogLine(log, requestRecord, status, isAborted);
      }
      tracing?.end(requestRecord, headers, status);
    },
  };
}

/**
 * Yoga plugin: records requests in `accessLog`, and returns the request id in the header `x-request-id`.
 * The plugin must be the first one with `onRequest`, because other plugins may end a request early.
 */
export function loggedRequests(
  accessLog: AccessLog,
): Plugin<object, RequestRecordContext & { res?: ServerResponse }> {
  return {
    onRequest({ request, serverContext }) {
      serverContext.requestRecord ??= accessLog.begin(request.headers.get('x-request-id'));
    },
    // Yoga calls this hook for `/graphql` alone, and not for GraphiQL, labels or other routes.
    onRequestParse({ serverContext: { requestRecord } }) {
      if (requestRecord !== undefined) requestRecord.route = 'graphql';
    },
    onResultProcess({ result, serverContext: { requestRecord } }) {
      // The server has no batches (lists of results) and no subscriptions (streams).
      if (requestRecord !== undefined && 'errors' in result) accessLog.recordResult(requestRecord, result);
    },
    onResponse({ request, response, serverContext }) {
      const { headers, signal } = request;
      // Yoga responds to some requests before it calls `onRequest`.
      const { requestRecord = accessLog.begin(headers.get('x-request-id')) } = serverContext;
      response.headers.set('x-request-id', requestRecord.requestId);
      // Yoga's signal misses a connection that closed before Yoga listened for the close.
      const isAborted = signal.aborted || serverContext.res?.destroyed === true;
      accessLog.finish(requestRecord, headers, response.status, isAborted);
    },
  };
}

function writeLogLine(log: Log, requestRecord: RequestRecord, status: number, isAborted: boolean): void {
  const { requestId, startedAtMs, route, operation, callContext, joined, errors } = requestRecord;
  const totals = callContext && sumCalls(callContext.callLog);
  const fields = {
    requestId,
    route,
    operation: loggableName(operation?.name?.value),
    type: operation?.operation,
    // A prefix: enough to distinguish tenants, too short to identify one.
    tenant: callContext?.tenant.id.slice(0, 12),
    status,
    ms: roundToTenths(performance.now() - startedAtMs),
    restMs: totals && roundToTenths(totals.restMs),
    calls: totals?.calls,
    cached: callContext?.callLog.cached,
    savedByList: callContext?.callLog.savedByList,
    bytes: totals?.bytes,
    retries: totals?.retries,
    joined: joined || undefined,
    aborted: isAborted || undefined,
    errors,
  };
  if (route === undefined) log.debug(fields, 'answered');
  else log.info(fields, 'answered');
  if (callContext === undefined || !log.isLevelEnabled('debug')) return;
  for (const entry of callContext.callLog.entries) {
    log.debug({ requestId, ...requestCost(entry) }, 'called REST');
  }
}
