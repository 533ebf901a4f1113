/**
 * `npm run bench:writes`: checks that no write is done twice and that no answer is wrong. First while the server is killed,
 * stands still and restarts: at each checkpoint of each mutation, then by five seeds. Then while REST is in trouble, by the
 * same seeds. Then with two servers and PostgreSQL, while both fail. Ends with exit code 1 if a write was done twice or lost,
 * or if an answer was wrong.
 */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { howToGetPostgres, programs } from '../test/fixtures/postgres-programs.ts';
import { markdownTable, withRange } from './markdown-table.ts';
import { endWithChildren, runAsLoad, sharing } from './server-process.ts';
import { checkpoints, type Disturbance, disturbAt, disturbances } from './writes/checkpoints.ts';
import { queryWhileHanging } from './writes/hanging-database.ts';
import { writeThroughKills } from './writes/killed-servers.ts';
import { measureLoopHolds } from './writes/loop-holds.ts';
import type { Standby } from './writes/shared-database.ts';
import { type Trouble, troubles } from './writes/troubled-rest.ts';
import { writeThroughTrouble } from './writes/troubled-writes.ts';
import { writeThroughTwoServers } from './writes/two-servers.ts';
import { shipThroughTwoServers } from './writes/two-tokens.ts';

const { values: options } = parseArgs({
  options: {
    /** The seeds, such as `1,2,3`. */
    seeds: { type: 'string', default: '1,2,3,4,5' },
    /** The disturbances at checkpoints whose names contain this text. */
    disturbances: { type: 'string', default: '' },
    /** The writes of each seed through kills. */
    writes: { type: 'string', default: '1000' },
    /** The writes of each seed through each trouble. */
    'troubled-writes': { type: 'string', default: '48' },
    /** The rounds in which two tokens ship one order through two servers. */
    rounds: { type: 'string', default: '200' },
    /** How long PostgreSQL hangs while queries are measured. */
    'hang-ms': { type: 'string', default: '60000' },
    /**
     * The parts whose names contain this text: `checkpoints`, `kills`, `troubles: lagging reads` and so on, `servers:
     * synchronous standby`, `servers: asynchronous standby`, `servers: two tokens`, `servers: hang`.
     */
    only: { type: 'string', default: '' },
    /** Only measures how long 100 keyed requests hold the event loop, in this number of rounds. */
    holds: { type: 'string', default: '0' },
    /** Measures the holds of the checkout in this directory too. Both take turns. */
    against: { type: 'string' },
  },
});
endWithChildren();
/** Runs through trouble mostly wait. More of them would have more servers than a small machine starts in time. */
const runsAtOnce = 3;

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
  const rows = (await measureLoopHolds(checkouts, rounds)).map((holdsMs, index) => [
    checkouts[index] ?? '',
    '100 shipOrders with keys at once',
    withRange(holdsMs),
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

/** Writes while the server is killed, and prints the results. */
async function printKills(seed: number): Promise<void> {
  const startedAtMs = performance.now();
  const { results, faults, kills, stops } = await writeThroughKills(seed, Number(options.writes));
  const rows = Object.entries(results)
    .sort()
    .map(([result, count]) => [result, String(count)]);
  process.stdout.write(
    `\nSeed ${seed}: ${kills} kills and ${stops} stops in ${secondsSince(startedAtMs)} s.\n\n`,
  );
  process.stdout.write(`${markdownTable(['result', 'writes'], rows)}\n`);
  process.stdout.write(
    faults.length === 0 ? '\nNo write was done twice or lost.\n' : `\n${faults.join('\n')}\n`,
  );
  if (faults.length > 0) process.exitCode = 1;
}

/** Writes while REST is in trouble, and prints the results, and a history for each kind of fault. */
async function printTrouble(trouble: Trouble, seed: number): Promise<void> {
  const startedAtMs = performance.now();
  const report = await writeThroughTrouble(trouble, seed, Number(options['troubled-writes']));
  const { results, faults, kills, sent, done } = report;
  const rows = Object.entries(results)
    .sort()
    .map(([result, count]) => [result, String(count)]);
  const byKind = Map.groupBy(faults, ({ kind }) => kind);
  const examples = new Set([...byKind.values()].map(([first]) => first?.history ?? []));
  const lines = [
    `\nSeed ${seed}, ${trouble}: ${kills} kills in ${secondsSince(startedAtMs)} s. REST did ${done} writes for ${sent} POSTs.\n`,
    `${markdownTable(['last result', 'keys'], rows)}\n`,
    ...(faults.length === 0 ? ['No write was done twice, and no answer was wrong.'] : []),
    ...[...byKind].map(([kind, found]) => `${found.length} times ${kind}`),
    ...[...examples].map((history) => {
      const kinds = faults.filter((fault) => fault.history === history).map(({ kind }) => kind);
      return `\n${kinds.join('\n')}\n\n${history.join('\n')}`;
    }),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

/** Writes to two servers while they and PostgreSQL fail, and prints the results. */
async function printTwoServers(seed: number, standby: Standby): Promise<void> {
  const startedAtMs = performance.now();
  const report = await writeThroughTwoServers(seed, Number(options.writes), standby);
  const { results, answers, faults, lost, disturbances } = report;
  const toRows = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort()
      .map(([name, count]) => [name, String(count)]);
  const lines = [
    `\nSeed ${seed}, two servers, ${standby} standby: ${secondsSince(startedAtMs)} s.\n`,
    `${markdownTable(['disturbance', 'times'], toRows(disturbances))}\n`,
    `${markdownTable(['last result', 'keys'], toRows(results))}\n`,
    `${markdownTable(['answer', 'requests'], toRows(answers))}\n`,
    ...(faults.length === 0 ? ['No write was done twice, and no answer was wrong.'] : faults),
    ...(lost.length === 0
      ? []
      : [`The failovers lost keys of writes that are not looked for: ${lost.length}`]),
    ...lost,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

/** Ships orders with two tokens through two servers, and prints the results. */
async function printTwoTokens(rounds: number): Promise<void> {
  const { results, faults } = await shipThroughTwoServers(rounds);
  const rows = Object.entries(results)
    .sort()
    .map(([name, count]) => [name, String(count)]);
  const end = faults.length === 0 ? 'Each order has one shipment.' : faults.join('\n');
  process.stdout.write(
    `\nTwo tokens, two servers.\n\n${markdownTable(['results', 'orders'], rows)}\n\n${end}\n`,
  );
  if (faults.length > 0) process.exitCode = 1;
}

/** Measures queries while PostgreSQL hangs, and prints the results. */
async function printHang(forMs: number): Promise<void> {
  const parts = await queryWhileHanging(forMs);
  const rows = parts.map(({ isHanging, queries, p50Ms, p99Ms, writes }) => [
    isHanging ? 'hangs' : 'works',
    ...[String(queries), p50Ms.toFixed(2), p99Ms.toFixed(2)],
    Object.entries(writes)
      .map(([result, count]) => `${count} ${result}`)
      .join(', '),
  ]);
  const head = ['PostgreSQL', 'queries', 'p50, ms', 'p99, ms', 'keyed writes meanwhile'];
  process.stdout.write(`\nQueries, ${sharing}.\n\n${markdownTable(head, rows)}\n`);
}

const secondsSince = (startedAtMs: number) => Math.round((performance.now() - startedAtMs) / 1_000);
const isChosen = (part: string) => part.includes(options.only);
const seeds = options.seeds
  .split(',')
  .filter((text) => text !== '')
  .map(Number);

if (isChosen('checkpoints')) {
  for (const disturbance of disturbances.filter((name) => name.includes(options.disturbances)))
    await printCheckpoints(disturbance);
}
if (isChosen('kills')) for (const seed of seeds) await printKills(seed);
const isLookAlike = options.only !== '' && 'look-alikes'.includes(options.only);
const chosenTroubles = isLookAlike
  ? (['look-alikes'] as const)
  : troubles.filter((trouble) => isChosen(`troubles: ${trouble}`));
const runs = seeds.flatMap((seed) => chosenTroubles.map((trouble) => ({ seed, trouble })));
await pLimit(runsAtOnce).map(runs, ({ seed, trouble }) => printTrouble(trouble, seed));

if (programs === undefined) {
  if (isChosen('servers')) process.stderr.write(`${howToGetPostgres}\n`);
} else {
  for (const standby of ['synchronous', 'asynchronous'] as const)
    for (const seed of isChosen(`servers: ${standby} standby`) ? seeds : [])
      await printTwoServers(seed, standby);
  if (isChosen('servers: two tokens')) await printTwoTokens(Number(options.rounds));
  if (isChosen('servers: hang')) await printHang(Number(options['hang-ms']));
}
