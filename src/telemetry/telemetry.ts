import { createDriftWatch } from '../rest/watch/schema-drift.ts';
import type { Log } from './log.ts';
import { createOutageLog } from './outage-log.ts';

interface TelemetryOptions {
  metrics: boolean;
  tracing: boolean;
}

export type Telemetry = Awaited<ReturnType<typeof startTelemetry>>;

/** Starts the metrics and traces of this process. The library of a part that is off is not loaded. */
export async function startTelemetry({ metrics, tracing }: TelemetryOptions, log: Log) {
  const createdMetrics = metrics ? (await import('./metrics.ts')).createMetrics() : undefined;
  const createdTracing = tracing ? await (await import('./otlp-tracing.ts')).createTracing(log) : undefined;
  const outages = createOutageLog(log);
  return {
    metrics: createdMetrics,
    tracing: createdTracing,
    observers: [createdMetrics?.calls, createdTracing?.calls, outages].filter((part) => part !== undefined),
    drift: createDriftWatch({
      onDifference: (coordinate, kind) => createdMetrics?.drift(coordinate, kind),
      onNewDifference: (coordinate, kind) =>
        log.warn({ coordinate, drift: kind }, 'a REST record differs from the REST interface'),
    }),
    async close(): Promise<void> {
      outages.close();
      await createdTracing?.close();
    },
  };
}
