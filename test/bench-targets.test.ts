import { expect, test } from 'vitest';
import type { Measured } from '../bench/peers/rounds.ts';
import { loads } from '../bench/peers/scenarios.ts';
import type { Result } from '../bench/peers/targets.ts';
import { targetsTable } from '../bench/peers/targets-table.ts';

/** A server with one round of so many requests per second, at a p50 and a peak. */
function seen(
  name: string,
  requestsPerSecond: number,
  p50Ms = 1,
  peakMegabytes = 100,
  cpuUsPerRequest = 500_000 / requestsPerSecond,
): Measured {
  const round = {
    requestsPerSecond,
    cpuUsPerRequest,
    p50Ms,
    p99Ms: p50Ms,
    callsPerRequest: 1,
    busy: 0.5,
  };
  return { name, rounds: [round], peakBytes: peakMegabytes * 1_048_576 };
}

const results: Result[] = [
  {
    scenario: { workload: 'order', ...loads.full, inShort: 'all' },
    turns: 1,
    measured: [seen('by hand', 1_000), seen('Waybill', 750, 1, 231), seen('Slow', 10), seen('Quick', 800)],
  },
  {
    scenario: { workload: 'typename', ...loads.full, inShort: 'all' },
    turns: 0,
    // Its core was not busy for want of load, so that it only seems to be as fast as the limit.
    measured: [seen('by hand', 10_000, 1, 100, 25), seen('Waybill', 10_000, 1, 100, 50)],
  },
  {
    scenario: { workload: 'order', ...loads.oneClient, inShort: 'ours' },
    turns: 1,
    measured: [seen('by hand', 50, 20), seen('Waybill', 50, 21)],
  },
  {
    scenario: { workload: 'deep', ...loads.oneClient, inShort: 'ours' },
    turns: 3,
    measured: [seen('by hand', 15, 64), seen('Waybill', 10, 78)],
  },
  {
    scenario: { workload: 'shipments', ...loads.unshared, inShort: 'ours' },
    turns: 2,
    measured: [seen('by hand', 400), seen('Waybill', 300)],
  },
  {
    scenario: { workload: 'shipments', ...loads.shared, inShort: 'ours' },
    turns: 1,
    measured: [seen('by hand', 500), seen('Waybill', 1_200)],
  },
];

test('the measure of the benchmark says of each target what came of it and whether it is met', () => {
  const rows = targetsTable(results)
    .split('\n')
    .map((row) => row.slice(2, -2).split(' | '));
  expect(rows).toEqual([
    ['asked', 'target', 'came', 'met'],
    ['---', '---', '---', '---'],
    ['100 orders with shipment and label', 'at least 0.8 of by hand', 'not measured', ''],
    ['100 orders with shipment and label', 'at least 10 times Apollo Server', 'not measured', ''],
    ['100 orders with shipment and label', 'at least 4 times the best peer', 'not measured', ''],
    [
      '50 orders four levels deep: shipment, quote and offers, origin',
      'at least 0.75 of by hand',
      'not measured',
      '',
    ],
    ['One order by id, a thousand ids in turn', 'at least 0.75 of by hand', '0.75 (0.75 by CPU time)', 'yes'],
    [
      'One order by id, a thousand ids in turn',
      'ahead of every peer',
      '0.94 (0.94 by CPU time), Quick',
      'no',
    ],
    ['`{ __typename }`', 'at least 0.8 of by hand', '1.00 (0.50 by CPU time)', 'no'],
    ['`{ __typename }`', 'ahead of every peer', 'not measured', ''],
    [
      '100 orders with shipment and label, 20 ms, one client',
      'at most 1.3 times the critical path',
      'not measured',
      '',
    ],
    [
      '50 orders four levels deep: shipment, quote and offers, origin, 20 ms, one client',
      'at most 1.3 times the critical path',
      "1.22 of by hand's 64 ms, 1.30 of 3 × 20 ms",
      'yes',
    ],
    [
      '100 orders with shipment and label, one bearer, 100 connections',
      'at least 5 times itself with a new bearer on every request',
      '4.00 (4.00 by CPU time)',
      'no',
    ],
    [
      'peak memory, wherever the bearer is new',
      'at most 1.3 times that of by hand and 100 MB',
      '231 MB where by hand has 100: One order by id, a thousand ids in turn, a new bearer on every request, REST 0 ms away, 32 connections',
      'no',
    ],
  ]);
});
