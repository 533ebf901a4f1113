import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { SummedMetrics } from '../../src/telemetry/aggregated-metrics.ts';

/** The metrics of a process with these numbers of received and pending requests. */
function snapshot(asked: number, pending: number) {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'asked_total', help: 'Asked.', labelNames: ['route'], registers }).inc(
    { route: 'graphql' },
    asked,
  );
  new Gauge({ name: 'pending', help: 'Pending.', registers }).set(pending);
  new Histogram({ name: 'sizes', help: 'Sizes.', buckets: [1, 2], registers }).observe(asked);
  return registry.getMetricsAsJSON();
}

/** The lines of the page that are values. */
async function valuesOf(summed: SummedMetrics): Promise<string[]> {
  return (await summed.page()).body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('metrics are summed over all processes, including exited processes', async () => {
  const summed = new SummedMetrics();
  summed.take(1, await snapshot(1, 10));
  summed.take(2, await snapshot(2, 20));
  const both = [
    'asked_total{route="graphql"} 3',
    'pending 30',
    'sizes_bucket{le="1"} 1',
    'sizes_bucket{le="2"} 2',
    'sizes_bucket{le="+Inf"} 2',
    'sizes_sum 3',
    'sizes_count 2',
  ];
  expect((await valuesOf(summed)).sort()).toEqual([...both].sort());
  expect((await summed.page()).contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  summed.left(2);
  const alone = both.map((line) => (line === 'pending 30' ? 'pending 10' : line));
  expect((await valuesOf(summed)).sort()).toEqual([...alone].sort());
  summed.take(3, await snapshot(4, 0));
  summed.left(3);
  summed.left(1);
  summed.take(4, await snapshot(1, 5));
  expect(await valuesOf(summed)).toEqual(
    expect.arrayContaining(['asked_total{route="graphql"} 8', 'pending 5', 'sizes_count 4', 'sizes_sum 8']),
  );
});
