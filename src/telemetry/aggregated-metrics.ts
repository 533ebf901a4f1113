import { AggregatorRegistry } from 'prom-client';
import type { MetricsPage, MetricsSnapshot } from './metrics.ts';

/** The sums of the metrics of several processes: counters, histograms and most gauges. Quantiles are averaged. */
export class SummedMetrics {
  readonly #snapshotByProcess = new Map<number, MetricsSnapshot>();
  #snapshotOfExited: MetricsSnapshot = [];

  /** Replaces the metrics of a process by its current ones. */
  take(process: number, snapshot: MetricsSnapshot): void {
    this.#snapshotByProcess.set(process, snapshot);
  }

  /** Removes an exited process. Its counters stay in the sums, because a lower counter would look like a reset. */
  left(process: number): void {
    const snapshot = this.#snapshotByProcess.get(process) ?? [];
    this.#snapshotByProcess.delete(process);
    this.#snapshotOfExited.push(...snapshot.filter(isCumulative));
  }

  async page(): Promise<MetricsPage> {
    const { length } = this.#snapshotOfExited;
    if (length > 0) {
      const sum = await AggregatorRegistry.aggregate([this.#snapshotOfExited]).getMetricsAsJSON();
      this.#snapshotOfExited.splice(0, length, ...sum);
    }
    const snapshots = [...this.#snapshotByProcess.values(), this.#snapshotOfExited];
    const registry = AggregatorRegistry.aggregate(snapshots);
    return { contentType: registry.contentType, body: await registry.metrics() };
  }
}

// `type` is a string. The library declares another type.
function isCumulative({ type }: { type: unknown }): boolean {
  return String(type) === 'counter' || String(type) === 'histogram';
}
