import type { ExecutionResult } from 'graphql';
import { type CallLog, requestCost, roundToTenths, sumCalls } from '../../rest/client/call-log.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tracing } from '../../telemetry/otlp-tracing.ts';
import { createRequestIds } from '../../telemetry/request-ids.ts';
import { countError, loggableName, RequestRecord } from '../../telemetry/request-record.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import type { OnHttpError } from '../http/http-error.ts';
import type { HeaderReader } from '../http/http-types.ts';

export type AccessLog = ReturnType<typeof createAccessLog>;

/** Records requests for metrics and traces. Logs a line per operation and label, and per other request at level debug. */
export function createAccessLog(log: Log, metrics?: Metrics['requests'], tracing?: Tracing) {
  const toRequestId = createRequestIds();
  return {
    /** @param clientId the value of the header `x-request-id`. */
    begin(clientId: unknown): RequestRecord {
      const requestRecord = new RequestRecord(toRequestId(clientId));
      metrics?.onRequestStarted(requestRecord);
      return requestRecord;
    },
    /** Ends the record; called once per request. `isAborted`: the client closed the connection before the response. */
    finish(requestRecord: RequestRecord, headers: HeaderReader, status: number, isAborted: boolean): void {
      metrics?.onRequestFinished(requestRecord, status, isAborted);
      if (log.isLevelEnabled(requestRecord.route === undefined ? 'debug' : 'info'))
        writeLogLine(log, requestRecord, status, isAborted);
      tracing?.end(requestRecord, headers, status);
    },
    /** Ends the record of a stream in metrics and traces, when its head is sent. The stream may last for an hour. */
    openStream(requestRecord: RequestRecord, headers: HeaderReader): void {
      metrics?.onRequestFinished(requestRecord, 200, false);
      tracing?.end(requestRecord, headers, 200);
    },
    /** Writes the line of a stream that has ended. */
    endStream(requestRecord: RequestRecord, tenant: Tenant, facts: StreamFacts): void {
      const { requestId, startedAtMs, operation } = requestRecord;
      const fields = {
        requestId,
        operation: loggableName(operation?.name?.value),
        type: operation?.operation,
        tenant: shownTenant(tenant),
        ms: roundToTenths(performance.now() - startedAtMs),
        ...facts,
      };
      log.info(fields, 'a subscription stream ended');
    },
  };
}

/** Counts the requests that reach no route. Logs a line per request at level debug. */
export function reportEarlyErrors(log: Log, metrics: Metrics | undefined): OnHttpError {
  return ({ requestId, status, code }) => {
    metrics?.earlyError(status);
    if (log.isLevelEnabled('debug'))
      log.debug({ requestId, status, errors: { [code]: 1 } }, 'a request or a connection was refused');
  };
}

/** What the line of a stream tells beside its request. */
export interface StreamFacts {
  transport: string;
  /** The events that the client has taken. */
  events: number;
  /** Why the stream ended. */
  end: string | undefined;
  /** The errors of the last event by code. */
  errors: Record<string, number> | undefined;
}

/** Counts the errors of a result as clients see it. */
export function recordResult(requestRecord: RequestRecord, { data, errors }: ExecutionResult): void {
  // A result of an executed operation has `data`, which may be null.
  requestRecord.isRejected = data === undefined;
  for (const { extensions } of errors ?? []) countError(requestRecord, String(extensions.code));
}

/** The first three failed calls, such as `GET /v1/orders/{id} 503`. */
function failedCalls({ entries }: CallLog): string[] | undefined {
  const failed = entries
    .filter(({ status = 0, isAborted }) => (status === 0 ? !isAborted : status >= 400))
    .map(({ method, route, status }) => `${method} ${route} ${status ?? 'no response'}`);
  return failed.length === 0 ? undefined : failed.slice(0, 3);
}

/** A prefix of the id: enough to distinguish tenants, too short to identify one. */
const shownTenant = ({ id }: Tenant): string => id.slice(0, 12);

function writeLogLine(log: Log, requestRecord: RequestRecord, status: number, isAborted: boolean): void {
  const { requestId, startedAtMs, route, operation, callContext, errors } = requestRecord;
  const totals = callContext && sumCalls(callContext.callLog);
  const fields = {
    requestId,
    route,
    operation: loggableName(operation?.name?.value),
    type: operation?.operation,
    tenant: callContext && shownTenant(callContext.tenant),
    status,
    ms: roundToTenths(performance.now() - startedAtMs),
    restMs: totals && roundToTenths(totals.restMs),
    calls: totals?.calls,
    cached: callContext?.callLog.cached,
    savedByList: callContext?.callLog.savedByList,
    bytes: totals?.bytes,
    retries: totals?.retries,
    aborted: isAborted || undefined,
    errors,
    failedCalls: callContext && errors && !isAborted ? failedCalls(callContext.callLog) : undefined,
  };
  if (route === undefined) log.debug(fields, 'a request ended');
  else log.info(fields, 'a request ended');
  if (callContext === undefined || !log.isLevelEnabled('debug')) return;
  for (const entry of callContext.callLog.entries) {
    log.debug({ requestId, ...requestCost(entry) }, 'called REST');
  }
}
