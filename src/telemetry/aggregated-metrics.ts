import { AggregatorRegistry } from 'prom-client';
import type { MetricsPage, MetricsSnapshot } from './metrics.ts';

/** The sums of the metrics of several processes. */
export interface SummedMetrics {
  /** Replaces the metrics of a process by its current ones. */
  take(process: number, counts: MetricsSnapshot): void;
  /** Removes an exited process. Its counters stay in the sums, because a lower counter would look like a reset. */
  left(process: number): void;
  /** The content of `GET /metrics`. */
  page(): Promise<MetricsPage>;
}

/** Sums counters, histograms and most gauges. Quantiles of the event-loop delay are averaged. */
export function createSummedMetrics(): SummedMetrics {
  const countsByProcess = new Map<number, MetricsSnapshot>();
  let countsOfExited: MetricsSnapshot = [];

  // `type` is a string. The library declares another type.
  const isCumulative = ({ type }: { type: unknown }) =>
    String(type) === 'counter' || String(type) === 'histogram';

  return {
    take: (process, counts) => countsByProcess.set(process, counts),
    left(process) {
      const counts = countsByProcess.get(process);
      countsByProcess.delete(process);
      if (counts !== undefined) countsOfExited = [...countsOfExited, ...counts.filter(isCumulative)];
    },
    async page() {
      if (countsOfExited.length > 0)
        countsOfExited = await AggregatorRegistry.aggregate([countsOfExited]).getMetricsAsJSON();
      const registry = AggregatorRegistry.aggregate([...countsByProcess.values(), countsOfExited]);
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}
