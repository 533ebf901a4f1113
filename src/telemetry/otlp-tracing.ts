import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { CallLogEntry } from '../rest/client/call-log.ts';
import type { Log } from './log.ts';
import type { HeaderReader, RequestRecord } from './request-record.ts';
import { loggableName } from './request-record.ts';
import { createSampler, type SamplerName } from './sampler.ts';
import type { Tracing } from './tracing.ts';

export interface TracingOptions {
  /** Where spans are sent. */
  url: URL;
  protocol: 'http/protobuf' | 'http/json';
  sampler: SamplerName;
  /** The share of traces that is kept, where the sampler keeps a share. */
  ratio: number;
}

/** Failures to send are told of once in so long. */
const msBetweenWarnings = 600_000;

const requestHeaders = {
  get: (headers: HeaderReader, name: string) => headers.get(name) ?? undefined,
  // Asked for by propagators alone that look for names which they do not know.
  keys: () => [],
};
const headersToSend = {
  set(headers: Record<string, string>, name: string, value: string) {
    headers[name] = value;
  },
};

/**
 * Traces that are sent by OTLP over HTTP. How they are named and what they tell follows OpenTelemetry's semantic
 * conventions, and is never a document, a value or a token. Its environment variables for headers, timeouts, certificates
 * and resources hold.
 */
export async function createTracing(options: TracingOptions, log: Log): Promise<Tracing> {
  const provider = new TracerProvider({
    sampler: createSampler(options.sampler, options.ratio),
    resource: resourceFromAttributes({ 'service.name': 'waybill' }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter: reportingFailures(await exporterOf(options), log) })],
  });
  const tracer = provider.getTracer('waybill');
  const propagator = new W3CTraceContextPropagator();
  // By ledger, as that is what a call of an operation is known by.
  const contexts = new WeakMap<object, Context>();
  const spans = new WeakMap<RequestRecord, Span>();
  const spansOfCalls = new WeakMap<CallLogEntry, Span>();

  function begin(requestRecord: RequestRecord, headers: HeaderReader): Span {
    const { route, startedAt: startTime, operation, callContext, requestId } = requestRecord;
    const parent = propagator.extract(ROOT_CONTEXT, headers, requestHeaders);
    const name = loggableName(operation?.name?.value);
    const type = operation?.operation;
    const attributes = {
      'http.route': route === 'label' ? '/labels/{id}.pdf' : '/graphql',
      'waybill.request_id': requestId,
      ...(type !== undefined && { 'graphql.operation.type': type }),
      ...(name !== undefined && { 'graphql.operation.name': name }),
    };
    const spanName = [type ?? route ?? 'graphql', name].filter((part) => part !== undefined).join(' ');
    const span = tracer.startSpan(spanName, { kind: SpanKind.SERVER, startTime, attributes }, parent);
    if (callContext !== undefined) contexts.set(callContext.callLog, trace.setSpan(parent, span));
    spans.set(requestRecord, span);
    return span;
  }

  return {
    calls: {
      onCallSent(entry, callLog) {
        const parent = contexts.get(callLog) ?? ROOT_CONTEXT;
        const { method, route } = entry;
        const attributes = { 'http.request.method': method, 'url.template': route };
        const span = tracer.startSpan(
          `${method} ${route}`,
          { kind: SpanKind.CLIENT, startTime: performance.now(), attributes },
          parent,
        );
        spansOfCalls.set(entry, span);
        const headers: Record<string, string> = {};
        propagator.inject(trace.setSpan(parent, span), headers, headersToSend);
        return headers;
      },
      onCallFinished(entry) {
        const span = spansOfCalls.get(entry);
        if (span === undefined) return;
        const { status, retries, bytes } = entry;
        if (status !== undefined) span.setAttribute('http.response.status_code', status);
        if (retries > 0) span.setAttribute('http.request.resend_count', retries);
        if (bytes > 0) span.setAttribute('http.response.body.size', bytes);
        if (status === undefined || status >= 400)
          fail(span, status === undefined ? 'no answer' : `${status}`);
        span.end(performance.now());
      },
    },
    begin,
    end(requestRecord, headers, status) {
      const { route, joined, errors } = requestRecord;
      if (route === undefined) return;
      const span = spans.get(requestRecord) ?? begin(requestRecord, headers);
      span.setAttribute('http.response.status_code', status);
      if (joined) span.setAttribute('waybill.joined', true);
      const [code] = Object.keys(errors ?? {});
      if (code !== undefined) fail(span, code);
      span.end(performance.now());
    },
    close: () => provider.shutdown().catch(() => {}),
  };
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

async function exporterOf({ url, protocol }: TracingOptions): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await (protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return new OTLPTraceExporter({ url: url.href });
}

/** The library tells nobody of spans that it could not send. */
function reportingFailures(exporter: SpanExporter, log: Log): SpanExporter {
  let reportedAt: number | undefined;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (
          result.code !== 0 &&
          (reportedAt === undefined || performance.now() - reportedAt >= msBetweenWarnings)
        ) {
          reportedAt = performance.now();
          log.warn({ spans: spans.length }, 'traces could not be sent');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
