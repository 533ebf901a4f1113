import {
  type Context,
  type DiagLogger,
  DiagLogLevel,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { getStringFromEnv, setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { CallLogEntry, CallObserver } from '../rest/client/call-log.ts';
import type { Log } from './log.ts';
import { loggableName, type RequestRecord } from './request-record.ts';
import { createSampler } from './sampler.ts';

const routePaths = { graphql: '/graphql', label: '/labels/{id}.pdf', document: '/documents/{id}.pdf' };

const msBetweenWarnings = 600_000;

/** The headers of a request. */
type RequestHeaders = Pick<Headers, 'get'>;

const requestHeaders = {
  get: (headers: RequestHeaders, name: string) => headers.get(name) ?? undefined,
  // The W3C propagator reads headers by name and never lists them.
  keys: () => [],
};
export type Tracing = Awaited<ReturnType<typeof createTracing>>;

/**
 * Tracing that sends spans by OTLP over HTTP, as the variables of OpenTelemetry say. Its packages read and check
 * them, and the log has their warnings. Names and attributes follow OpenTelemetry's semantic conventions. They never
 * contain a document, a value or a token.
 */
export async function createTracing(log: Log) {
  diag.setLogger(warningsTo(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const exporter = await createExporter();
  const sampler = createSampler();
  // Later warnings may have data of a request.
  diag.disable();
  const warnOfFailedExport = createExportWarning(log);
  setGlobalErrorHandler(warnOfFailedExport);
  const provider = new TracerProvider({
    sampler,
    resource: resourceFromAttributes({ 'service.name': 'waybill' }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('waybill');
  const propagator = new W3CTraceContextPropagator();
  // Keyed by call log, because REST calls only know the call log of their operation.
  const contextByCallLog = new WeakMap<object, Context>();
  const spanByRequest = new WeakMap<RequestRecord, Span>();
  const spanByCall = new WeakMap<CallLogEntry, Span>();

  function startSpan(requestRecord: RequestRecord, headers: RequestHeaders): Span {
    const { route, startedAtMs: startTime, operation, callContext, requestId } = requestRecord;
    const parent = propagator.extract(ROOT_CONTEXT, headers, requestHeaders);
    const name = loggableName(operation?.name?.value);
    const type = operation?.operation;
    const attributes = {
      'http.route': routePaths[route ?? 'graphql'],
      'waybill.request_id': requestId,
      ...(type !== undefined && { 'graphql.operation.type': type }),
      ...(name !== undefined && { 'graphql.operation.name': name }),
    };
    const spanName = [type ?? route ?? 'graphql', name].filter((part) => part !== undefined).join(' ');
    const span = tracer.startSpan(spanName, { kind: SpanKind.SERVER, startTime, attributes }, parent);
    if (callContext !== undefined) contextByCallLog.set(callContext.callLog, trace.setSpan(parent, span));
    spanByRequest.set(requestRecord, span);
    return span;
  }

  /** Creates a child span per REST call and sends its trace context to REST. */
  const calls: CallObserver = {
    onCallSent(entry, callLog) {
      const parent = contextByCallLog.get(callLog) ?? ROOT_CONTEXT;
      const { method, route } = entry;
      const attributes = { 'http.request.method': method, 'url.template': route };
      const options = { kind: SpanKind.CLIENT, startTime: performance.now(), attributes };
      const span = tracer.startSpan(`${method} ${route}`, options, parent);
      spanByCall.set(entry, span);
      const headers: Record<string, string> = {};
      propagator.inject(trace.setSpan(parent, span), headers, defaultTextMapSetter);
      return headers;
    },
    onCallFinished(entry) {
      const span = spanByCall.get(entry);
      // A span that never ends is not exported.
      if (span === undefined || entry.isUnsent) return;
      const { status, retries, bytes } = entry;
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      if (retries > 0) span.setAttribute('http.request.resend_count', retries);
      if (bytes > 0) span.setAttribute('http.response.body.size', bytes);
      if (status === undefined || status >= 400) markFailed(span, `${status ?? 'no answer'}`);
      span.end(performance.now());
    },
  };

  return {
    calls,
    /** Starts the span of an operation or label once its access token is known. `headers`: of the request. */
    begin(requestRecord: RequestRecord, headers: RequestHeaders): void {
      startSpan(requestRecord, headers);
    },
    /** Ends the span with the response. Starts it first if the request was refused before `begin`. */
    end(requestRecord: RequestRecord, headers: RequestHeaders, status: number): void {
      const { route, errors } = requestRecord;
      if (route === undefined) return;
      const span = spanByRequest.get(requestRecord) ?? startSpan(requestRecord, headers);
      span.setAttribute('http.response.status_code', status);
      const [code] = Object.keys(errors ?? {});
      if (code !== undefined) markFailed(span, code);
      span.end(performance.now());
    },
    /** Sends all remaining spans, without a time limit. */
    close: () => provider.shutdown().catch(warnOfFailedExport),
  };
}

function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

async function createExporter(): Promise<SpanExporter> {
  const protocol =
    getStringFromEnv('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? getStringFromEnv('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol !== undefined && !/^http\/(json|protobuf)$/.test(protocol)) {
    diag.warn(`OTLP over ${protocol} is not supported, so traces are sent over http/protobuf`);
  }
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return new OTLPTraceExporter();
}

function warningsTo(log: Log): DiagLogger {
  const warn = (problem: string) =>
    // A URL may have credentials.
    log.warn(
      { problem: problem.replace(/\/\/[^/]*@/g, '//…@') },
      'OpenTelemetry cannot use an environment variable',
    );
  return { error: warn, warn, info() {}, debug() {}, verbose() {} };
}

function createExportWarning(log: Log): () => void {
  let nextWarningAtMs = 0;
  return () => {
    if (performance.now() < nextWarningAtMs) return;
    nextWarningAtMs = performance.now() + msBetweenWarnings;
    log.warn({}, 'traces could not be sent');
  };
}
