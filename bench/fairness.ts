/**
 * `npm run bench:fairness`: what attackers cost others, and whether the floors hold. `/health/live` and a small query of
 * another merchant are sampled during each attack, on a connection that stays open and on new ones. Attackers, REST and
 * server are processes of their own. The exit code does not depend on the times.
 */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { attacks } from './fairness/attacks.ts';
import { type Figures, medianFigures, missedFloors, type Spread } from './fairness/figures.ts';
import { measure } from './fairness/measure.ts';
import { probeNames } from './fairness/probes.ts';
import { markdownTable } from './markdown-table.ts';
import { waybillIn } from './peers/servers.ts';
import { loadCore, runAsLoad, sharing } from './server-process.ts';
import { startUpstream } from './upstream.ts';

const { values: options } = parseArgs({
  options: {
    /** Only the attacks whose name contains one of these texts, separated by `;`. */
    attacks: { type: 'string', default: '' },
    /** The runs of each attack. The figures are their median. */
    rounds: { type: 'string', default: '1' },
    /** How often each burst is sent. */
    tries: { type: 'string', default: '10' },
    /** The samples of each probe during the other attacks. */
    samples: { type: 'string', default: '200' },
    /** The delay of each response of REST, in milliseconds. */
    'delay-ms': { type: 'string', default: '0' },
    /** Measures the checkout in this directory. */
    checkout: { type: 'string', default: join(import.meta.dirname, '..') },
  },
});
const rounds = Number(options.rounds);
const chosen = options.attacks.split(';');
const names = ['no attack', ...Object.keys(attacks)].filter((name) =>
  chosen.some((text) => name.includes(text)),
);
const print = (text: string) => process.stdout.write(`${text}\n`);

const head = [
  'attack',
  ...probeNames,
  'failed',
  'longest hold, ms',
  'peak MB',
  'page of 1,000',
  'new token',
  'floors',
  'responses',
];

function cellsOf(name: string, figures: Figures): (string | number)[] {
  const { waits, failed, longestHoldMs, peakMb, statuses } = figures;
  const missed = missedFloors(figures);
  return [
    name,
    ...probeNames.map((probe) => shown(waits[probe])),
    failed,
    ...[longestHoldMs, peakMb].map((figure) =>
      Number.isNaN(figure) ? 'the server ended' : figure.toFixed(0),
    ),
    shown(waits['page of 1,000']),
    shown(waits['new token']),
    missed.length === 0 ? 'held' : `missed: ${missed.join('; ')}`,
    Object.entries(statuses)
      .map(([status, times]) => `${times} × ${status}`)
      .join(', '),
  ];
}

function shown(spread: Spread | undefined): string {
  if (spread === undefined) return '–';
  return [spread.p50, spread.p99, spread.longest].map((ms) => ms.toFixed(0)).join(' / ');
}

runAsLoad();
const upstream = await startUpstream('upstream-process.ts', loadCore);
await upstream.turnTo({ delayMs: Number(options['delay-ms']), keepsCalls: false });
print(`${sharing}; waits are p50 / p99 / longest in ms, the median of rounds: ${rounds}\n`);
print(markdownTable(head, []));
const measureOptions = {
  entry: waybillIn(options.checkout),
  upstreamUrl: upstream.url,
  tries: Number(options.tries),
  samples: Number(options.samples),
};
for (const name of names) {
  const figures: Figures[] = [];
  for (let round = 0; round < rounds; round += 1) figures.push(await measure(name, measureOptions));
  // Each row is printed at once, because all attacks take minutes.
  print(`| ${cellsOf(name, medianFigures(figures)).join(' | ')} |`);
}
upstream.close();
