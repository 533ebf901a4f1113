import { type CallObserver, observeAll } from '../rest/client/call-observer.ts';
import { createDriftWatch, type DriftWatch } from '../rest/schema-drift.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { TracingOptions } from './otlp-tracing.ts';
import type { Tracing } from './tracing.ts';

export interface TelemetryOptions {
  /** Whether what is done here is counted; if not, nothing for it is loaded. */
  metrics: boolean;
  /** Whether the process itself is measured too; it is when left out. */
  process?: boolean;
  /** Undefined: nothing is traced, and nothing for it is loaded. */
  tracing: TracingOptions | undefined;
}

/** What operators can look at besides the log. */
export interface Telemetry {
  metrics: Metrics | undefined;
  tracing: Tracing | undefined;
  /** For the REST client. */
  observer: CallObserver | undefined;
  /** For the REST interface. */
  drift: DriftWatch;
  close(): Promise<void>;
}

export async function startTelemetry(
  { metrics, process = true, tracing }: TelemetryOptions,
  log: Log,
): Promise<Telemetry> {
  // Loaded only where they are used, as they would make every start longer.
  const counted = metrics
    ? await import('./metrics.ts').then(({ createMetrics }) => createMetrics({ process }))
    : undefined;
  const traced =
    tracing && (await import('./otlp-tracing.ts').then(({ createTracing }) => createTracing(tracing, log)));
  return {
    metrics: counted,
    tracing: traced,
    observer: observeAll([counted, traced].flatMap((part) => (part === undefined ? [] : [part.calls]))),
    drift: createDriftWatch({
      count: (coordinate, kind) => counted?.drift(coordinate, kind),
      tell: (coordinate, kind) => log.warn({ coordinate, drift: kind }, 'REST differs from its interface'),
    }),
    close: async () => traced?.close(),
  };
}
