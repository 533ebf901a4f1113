/**
 * `npm run bench:writes`: checks that no write is done twice while servers are killed, stand still and restart, while
 * responses are lost and tokens end. First at each checkpoint of each mutation, then by five seeds. Ends with exit code 1 if a write was done twice or lost.
 */

import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { markdownTable } from './markdown-table.ts';
import { endWithChildren } from './server-process.ts';
import { checkpoints, type Disturbance, disturbAt, disturbances } from './writes/checkpoints.ts';
import { writeThroughKills } from './writes/killed-servers.ts';

const { values: options } = parseArgs({
  options: {
    /** The seeds, such as `1,2,3`. */
    seeds: { type: 'string', default: '1,2,3,4,5' },
    /** The disturbances at checkpoints whose names contain this text. */
    disturbances: { type: 'string', default: '' },
    writes: { type: 'string', default: '1000' },
    /** Whether to leave out the checkpoints. */
    'seeds-only': { type: 'boolean', default: false },
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
