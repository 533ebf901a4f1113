import { AggregatorRegistry } from 'prom-client';
import type { MetricsPage, MetricsSnapshot } from './metrics.ts';

/** The sums of the metrics of several processes. */
export interface SummedMetrics {
  /** Replaces the metrics of a process by its current ones. */
  take(process: number, snapshot: MetricsSnapshot): void;
  /** Removes an exited process. Its counters stay in the sums, because a lower counter would look like a reset. */
  left(process: number): void;
  /** The content of `GET /metrics`. */
  page(): Promise<MetricsPage>;
}

/** Sums counters, histograms and most gauges. Quantiles of the event-loop delay are averaged. */
export function createSummedMetrics(): SummedMetrics {
  const snapshotByProcess = new Map<number, MetricsSnapshot>();
  let snapshotOfExited: MetricsSnapshot = [];

  // `type` is a string. The library declares another type.
  const isCumulative = ({ type }: { type: unknown }) =>
    String(type) === 'counter' || String(type) === 'histogram';

  return {
    take: (process, snapshot) => snapshotByProcess.set(process, snapshot),
    left(process) {
      const snapshot = snapshotByProcess.get(process);
      snapshotByProcess.delete(process);
      if (snapshot !== undefined) snapshotOfExited = [...snapshotOfExited, ...snapshot.filter(isCumulative)];
    },
    async page() {
      if (snapshotOfExited.length > 0)
        snapshotOfExited = await AggregatorRegistry.aggregate([snapshotOfExited]).getMetricsAsJSON();
      const registry = AggregatorRegistry.aggregate([...snapshotByProcess.values(), snapshotOfExited]);
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}
