import { type CallObserver, observeAll } from '../rest/client/call-log.ts';
import { createDriftWatch, type DriftWatch } from '../rest/schema-drift.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { TracingOptions } from './otlp-tracing.ts';
import type { Tracing } from './tracing.ts';

/** The settings of metrics and tracing. */
export interface TelemetryOptions {
  /** Whether metrics are collected. If not, the metrics library is not loaded. */
  metrics: boolean;
  /** Whether CPU time, memory and event-loop delay of the process are measured, by default true. */
  process?: boolean;
  /** Undefined when tracing is off. The tracing library is then not loaded. */
  tracing: TracingOptions | undefined;
}

/** The metrics and traces of a process. */
export interface Telemetry {
  metrics: Metrics | undefined;
  tracing: Tracing | undefined;
  /** Observes the calls of the REST client. */
  observer: CallObserver | undefined;
  /** Checks a sample of REST's records against the interface. */
  drift: DriftWatch;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

/** Creates the metrics and traces of this process. */
export async function startTelemetry(
  { metrics, process = true, tracing }: TelemetryOptions,
  log: Log,
): Promise<Telemetry> {
  // Imported on demand, because both libraries slow down the start.
  const createdMetrics = metrics
    ? await import('./metrics.ts').then(({ createMetrics }) => createMetrics({ process }))
    : undefined;
  const createdTracing =
    tracing && (await import('./otlp-tracing.ts').then(({ createTracing }) => createTracing(tracing, log)));
  return {
    metrics: createdMetrics,
    tracing: createdTracing,
    observer: observeAll(
      [createdMetrics, createdTracing].flatMap((part) => (part === undefined ? [] : [part.calls])),
    ),
    drift: createDriftWatch({
      count: (coordinate, kind) => createdMetrics?.drift(coordinate, kind),
      tell: (coordinate, kind) => log.warn({ coordinate, drift: kind }, 'REST differs from its interface'),
    }),
    close: async () => createdTracing?.close(),
  };
}
