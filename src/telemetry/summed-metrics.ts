import { AggregatorRegistry } from 'prom-client';
import type { Counts, MetricsPage } from './metrics.ts';

/** The metrics of several processes as one page. */
export interface SummedMetrics {
  /** What a process has counted by now. */
  take(process: number, counts: Counts): void;
  /** A process has ended. What it is known to have counted stays in the sums, as a counter that falls counts as begun anew. */
  left(process: number): void;
  page(): Promise<MetricsPage>;
}

/** Sums counters, histograms and most gauges; of delays of the event loop there is the mean of each quantile. */
export function createSummedMetrics(): SummedMetrics {
  const known = new Map<number, Counts>();
  let ofEnded: Counts = [];

  // A text, whatever the library's type says of it.
  const isCounted = ({ type }: { type: unknown }) =>
    String(type) === 'counter' || String(type) === 'histogram';

  return {
    take: (process, counts) => known.set(process, counts),
    left(process) {
      const counts = known.get(process);
      known.delete(process);
      if (counts !== undefined) ofEnded = [...ofEnded, ...counts.filter(isCounted)];
    },
    async page() {
      if (ofEnded.length > 0) ofEnded = await AggregatorRegistry.aggregate([ofEnded]).getMetricsAsJSON();
      const registry = AggregatorRegistry.aggregate([...known.values(), ofEnded]);
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}
