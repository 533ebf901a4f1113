import type { CallObserver } from '../rest/client/call-log.ts';
import { createDriftWatch, type DriftWatch } from '../rest/watch/schema-drift.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { OutageLog } from './outage-log.ts';
import type { Tracing } from './tracing.ts';

export interface TelemetryOptions {
  /** If not, the metrics library is not loaded. */
  metrics: boolean;
  /** Whether CPU time, memory and event-loop delay of the process are measured, by default true. */
  process?: boolean;
  /** If not, OpenTelemetry is not loaded. */
  tracing: boolean;
}

/** The metrics and traces of a process. */
export interface Telemetry {
  metrics: Metrics | undefined;
  tracing: Tracing | undefined;
  observers: readonly CallObserver[];
  drift: DriftWatch;
  outages: OutageLog;
  close(): Promise<void>;
}

/** Starts the metrics and traces of this process. */
export async function startTelemetry(
  { metrics, process = true, tracing }: TelemetryOptions,
  log: Log,
): Promise<Telemetry> {
  // Imported on demand, because both libraries slow down the start.
  const createdMetrics = metrics
    ? await import('./metrics.ts').then(({ createMetrics }) => createMetrics({ process }))
    : undefined;
  const createdTracing = tracing
    ? await import('./otlp-tracing.ts').then(({ createTracing }) => createTracing(log))
    : undefined;
  const outages = new OutageLog(log);
  return {
    metrics: createdMetrics,
    tracing: createdTracing,
    observers: [createdMetrics?.calls, createdTracing?.calls, outages].filter((part) => part !== undefined),
    drift: createDriftWatch({
      onDifference: (coordinate, kind) => createdMetrics?.drift(coordinate, kind),
      onNewDifference: (coordinate, kind) =>
        log.warn({ coordinate, drift: kind }, 'REST differs from its interface'),
    }),
    outages,
    async close() {
      outages.close();
      await createdTracing?.close();
    },
  };
}
