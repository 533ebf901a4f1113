import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createSummedMetrics } from '../../src/telemetry/summed-metrics.ts';

/** What a process has counted: so many asked, and so many under way. */
function counts(asked: number, underWay: number) {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'asked_total', help: 'Asked.', labelNames: ['route'], registers }).inc(
    { route: 'graphql' },
    asked,
  );
  new Gauge({ name: 'under_way', help: 'Under way.', registers }).set(underWay);
  new Histogram({ name: 'sizes', help: 'Sizes.', buckets: [1, 2], registers }).observe(asked);
  return registry.getMetricsAsJSON();
}

/** The lines of the page that are values. */
async function valuesOf(summed: ReturnType<typeof createSummedMetrics>): Promise<string[]> {
  return (await summed.page()).body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('processes are summed up, and what those have counted that have ended stays', async () => {
  const summed = createSummedMetrics();
  summed.take(1, await counts(1, 10));
  summed.take(2, await counts(2, 20));
  const both = [
    'asked_total{route="graphql"} 3',
    'under_way 30',
    'sizes_bucket{le="1"} 1',
    'sizes_bucket{le="2"} 2',
    'sizes_bucket{le="+Inf"} 2',
    'sizes_sum 3',
    'sizes_count 2',
  ];
  expect((await valuesOf(summed)).sort()).toEqual([...both].sort());
  expect((await summed.page()).contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  summed.left(2);
  const alone = both.map((line) => (line === 'under_way 30' ? 'under_way 10' : line));
  expect((await valuesOf(summed)).sort()).toEqual([...alone].sort());
  summed.take(3, await counts(4, 0));
  summed.left(3);
  summed.left(1);
  summed.take(4, await counts(1, 5));
  expect(await valuesOf(summed)).toEqual(
    expect.arrayContaining(['asked_total{route="graphql"} 8', 'under_way 5', 'sizes_count 4', 'sizes_sum 8']),
  );
});
