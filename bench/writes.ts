/**
 * `npm run bench:writes`: checks that no write is done twice while servers are killed, stand still and restart, while
 * responses are lost and tokens end. First at each checkpoint of each mutation, then by five seeds. Ends with exit code 1 if a write was done twice or lost.
 */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { markdownTable, withRange } from './markdown-table.ts';
import { endWithChildren, runAsLoad, sharing } from './server-process.ts';
import { checkpoints, type Disturbance, disturbAt, disturbances } from './writes/checkpoints.ts';
import { writeThroughKills } from './writes/killed-servers.ts';
import { measureLoopHolds } from './writes/loop-holds.ts';

const { values: options } = parseArgs({
  options: {
    /** The seeds, such as `1,2,3`. */
    seeds: { type: 'string', default: '1,2,3,4,5' },
    /** The disturbances at checkpoints whose names contain this text. */
    disturbances: { type: 'string', default: '' },
    writes: { type: 'string', default: '1000' },
    /** Whether to leave out the checkpoints. */
    'seeds-only': { type: 'boolean', default: false },
    /** Only measures how long 100 keyed requests hold the event loop, in this number of rounds. */
    holds: { type: 'string', default: '0' },
    /** Measures the holds of the checkout in this directory too. Both take turns. */
    against: { type: 'string' },
  },
});
endWithChildren();

/** Disturbs a server at each checkpoint of each mutation, four at a time. */
async function printCheckpoints(disturbance: Disturbance): Promise<void> {
  const rows: string[][] = [];
  await pLimit(4).map(checkpoints, async (checkpoint) => {
    const { result, count } = await disturbAt(checkpoint, disturbance);
    const { mutation, method, path, isApplied } = checkpoint;
    const isRight = count === 1 || (count === 0 && !result.endsWith('Success'));
    if (!isRight) process.exitCode = 1;
    const call = `${method} ${path.source.replaceAll('\\', '')}`;
    rows.push([mutation, call, isApplied ? 'yes' : 'no', result, String(count), isRight ? 'yes' : 'NO']);
  });
  process.stdout.write(`\n${disturbance} at each checkpoint, then the same key with a new token\n\n`);
  const head = ['mutation', 'held call', 'applied', 'result', 'done', 'right'];
  process.stdout.write(`${markdownTable(head, rows.sort(), 4)}\n`);
}

async function printHolds(rounds: number): Promise<void> {
  const checkouts = [
    join(import.meta.dirname, '..'),
    ...(options.against === undefined ? [] : [options.against]),
  ];
  const rows = (await measureLoopHolds(checkouts, rounds)).flatMap(({ requestsMs, lockedStoreMs }, index) => [
    [checkouts[index] ?? '', '100 shipOrders with keys at once', withRange(requestsMs)],
    [checkouts[index] ?? '', 'the same while another process locks the store', withRange(lockedStoreMs)],
  ]);
  const head = ['checkout', 'work', 'longest hold of a round, CPU ms'];
  process.stdout.write(`The event loop, ${rounds} rounds, ${sharing}\n\n${markdownTable(head, rows, 2)}\n`);
}

const holdRounds = Number(options.holds);
if (holdRounds > 0) {
  runAsLoad();
  await printHolds(holdRounds);
  process.exit();
}

if (!options['seeds-only']) {
  for (const disturbance of disturbances.filter((name) => name.includes(options.disturbances)))
    await printCheckpoints(disturbance);
}
for (const seed of options.seeds
  .split(',')
  .filter((text) => text !== '')
  .map(Number)) {
  const startedAtMs = performance.now();
  const { results, faults, kills, stops } = await writeThroughKills(seed, Number(options.writes));
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
  const rows = Object.entries(results)
    .sort()
    .map(([result, count]) => [result, String(count)]);
  process.stdout.write(`\nSeed ${seed}: ${kills} kills and ${stops} stops in ${seconds} s.\n\n`);
  process.stdout.write(`${markdownTable(['result', 'writes'], rows)}\n`);
  process.stdout.write(
    faults.length === 0 ? '\nNo write was done twice or lost.\n' : `\n${faults.join('\n')}\n`,
  );
  if (faults.length > 0) process.exitCode = 1;
}
