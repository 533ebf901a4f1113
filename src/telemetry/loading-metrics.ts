import { Counter, Histogram, type Registry } from 'prom-client';
import type { LoadingObserver } from '../loaders/loading-observer.ts';

/** Creates the metrics of batches and prefetched pages. */
export function createLoadingMetrics(registry: Registry): LoadingObserver {
  const registers = [registry];
  const sizes = new Histogram({
    name: 'waybill_batch_size',
    help: 'How many ids were asked for at once by kind (orders, shipments).',
    labelNames: ['kind'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
    registers,
  });
  const batches = new Counter({
    name: 'waybill_batches_total',
    help: 'Batches of ids by kind and by how they were answered (gets, page, trial, no rows, timeout, failed).',
    labelNames: ['kind', 'way'],
    registers,
  });
  const prefetchedPages = new Counter({
    name: 'waybill_prefetched_pages_total',
    help: 'Pages that were asked for ahead by kind, and those of them that a batch made use of (asked, used).',
    labelNames: ['kind', 'event'],
    registers,
  });
  return {
    batch(kind, size, way) {
      sizes.observe({ kind }, size);
      batches.inc({ kind, way });
    },
    prefetchedPage: (kind, event) => prefetchedPages.inc({ kind, event }),
  };
}
