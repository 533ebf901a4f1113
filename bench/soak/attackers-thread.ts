import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { createWatch } from './answer.ts';
import type { AttackOrder, AttacksSeen, AttackTarget } from './attackers.ts';
import { attacks, turns } from './hostile-requests.ts';
import { pace } from './pace.ts';
import { createTally } from './tally.ts';

// The thread of the attackers: attacks as it is told, until it is closed.

const { url, connections }: AttackTarget = workerData;
const client = new Pool(url, { connections });
const target = { url: new URL(url), client, watch: createWatch() };
const tally = createTally();
let index = 0;

async function attackOnce(): Promise<void> {
  index += 1;
  const name = turns[index % turns.length] ?? '';
  tally.count(name, (await attacks[name]?.(target, index)) ?? '');
}

async function follow(order: AttackOrder): Promise<AttacksSeen | undefined> {
  if (order !== 'close') {
    await pace(order.attack, attackOnce);
    return undefined;
  }
  await client.close();
  return { watch: target.watch, outcomes: tally.rows() };
}

parentPort?.on('message', async (order: AttackOrder) => {
  parentPort?.postMessage(await follow(order));
  if (order === 'close') parentPort?.close();
});
