import { createDriftWatch } from '../rest/watch/schema-drift.ts';
import type { Log } from './log.ts';
import { createOutageLog } from './outage-log.ts';

export type Telemetry = Awaited<ReturnType<typeof startTelemetry>>;

/** Starts the metrics and traces of this process. The library of a part that is off is not loaded. */
export async function startTelemetry(parts: { metrics: boolean; tracing: boolean }, log: Log) {
  const metrics = parts.metrics ? (await import('./metrics.ts')).createMetrics() : undefined;
  const tracing = parts.tracing ? await (await import('./otlp-tracing.ts')).createTracing(log) : undefined;
  const outages = createOutageLog(log);
  return {
    metrics,
    tracing,
    observers: [metrics?.calls, tracing?.calls, outages].filter((part) => part !== undefined),
    drift: createDriftWatch({
      onDifference: (coordinate, difference) => metrics?.drift(coordinate, difference),
      onNewDifference: (coordinate, difference) =>
        log.warn({ coordinate, drift: difference }, 'a REST record differs from the REST interface'),
    }),
    endOutages: outages.close,
    close: () => tracing?.close(),
  };
}
