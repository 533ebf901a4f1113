import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { totalsOf } from '../../rest/client/call-log.ts';
import type { Log } from '../../telemetry/log.ts';
import { createRequestIds } from '../../telemetry/request-ids.ts';
import type { HeaderReader } from '../../telemetry/request-record.ts';
import {
  countError,
  createRequestRecord,
  loggableName,
  type RequestObserver,
  type RequestRecord,
  type RequestRecordContext,
} from '../../telemetry/request-record.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import { requestCost, roundToTenths } from './cost-report.ts';
import type { MaskedErrors } from './error-mapping.ts';

/** What is noted of each request, for its line in the log, for metrics and for traces. */
export interface RequestLog {
  /** A request is here. `givenId` is what its header `x-request-id` says. */
  begin(requestIdHeader: unknown): RequestRecord;
  /** Notes the errors of an answer, as they are told, and reports those that are masked. */
  noteResult(requestRecord: RequestRecord, result: ExecutionResult): void;
  /** Once for each request: it is answered with this status, or nobody takes the answer any more. */
  finish(requestRecord: RequestRecord, headers: HeaderReader, status: number, isAborted: boolean): void;
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
    begin(requestIdHeader) {
      const requestRecord = createRequestRecord(requestIdOf(requestIdHeader));
      observer?.onRequestStarted(requestRecord);
      return requestRecord;
    },
    noteResult(requestRecord, { data, errors }) {
      // What has run has data, be it null.
      requestRecord.isRefused = data === undefined;
      for (const error of errors ?? []) {
        countError(requestRecord, String(error.extensions.code));
        maskedErrors.report(error, requestRecord.requestId);
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
 * Has the log follow the requests that Yoga answers, and says their ids in the header `x-request-id`. Stands before all
 * other plugins, as these may answer a request by themselves.
 */
export function loggedRequests(
  requestLog: RequestLog,
): Plugin<object, RequestRecordContext & { res?: ServerResponse }> {
  return {
    onRequest({ request, serverContext }) {
      serverContext.requestRecord ??= requestLog.begin(request.headers.get('x-request-id'));
    },
    // What is parsed as an operation is neither GraphiQL's nor a label, nor has another address.
    onRequestParse({ serverContext: { requestRecord } }) {
      if (requestRecord !== undefined) requestRecord.route = 'graphql';
    },
    onResultProcess({ result, serverContext: { requestRecord } }) {
      // A list of results is Yoga's for batches and a stream is a subscription's; there are neither.
      if (requestRecord !== undefined && 'errors' in result) requestLog.noteResult(requestRecord, result);
    },
    onResponse({ request, response, serverContext }) {
      const { headers, signal } = request;
      // The library answers some requests before any plugin sees them.
      const { requestRecord = requestLog.begin(headers.get('x-request-id')) } = serverContext;
      response.headers.set('x-request-id', requestRecord.requestId);
      // The library listens for the end of a connection, which may be behind it.
      const isAborted = signal.aborted || serverContext.res?.destroyed === true;
      requestLog.finish(requestRecord, headers, response.status, isAborted);
    },
  };
}

function writeLogLine(log: Log, requestRecord: RequestRecord, status: number, isAborted: boolean): void {
  const { requestId, startedAt, route, operation, callContext, joined, errors } = requestRecord;
  const totals = callContext && totalsOf(callContext.callLog);
  const fields = {
    requestId,
    route,
    operation: loggableName(operation?.name?.value),
    type: operation?.operation,
    // Enough to tell callers apart, and too little to be looked up.
    tenant: callContext?.tenant.id.slice(0, 12),
    status,
    ms: roundToTenths(performance.now() - startedAt),
    restMs: totals && roundToTenths(totals.restMs),
    calls: totals?.calls,
    shared: totals?.shared,
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
    const { askedBy, ...cost } = requestCost(entry);
    log.debug({ requestId, ...cost }, 'called REST');
  }
}
