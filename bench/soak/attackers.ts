import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Watch } from './answer.ts';
import type { Pace } from './pace.ts';
import type { Outcomes } from './tally.ts';

/** Those who attack, on a thread of their own, as what they do must not delay the timing of good requests. */
export interface Attackers {
  /** Attacks at this pace, each kind in its turn, and resolves once all attacks have ended. */
  attack(pace: Pace): Promise<void>;
  /** Ends the thread. Answers what all attacks came to. */
  close(): Promise<AttacksSeen>;
}

export interface AttacksSeen {
  watch: Watch;
  outcomes: Outcomes[];
}

/** What the thread is told, and what it answers each time. */
export type AttackOrder = { attack: Pace } | 'close';

/** What the thread is started with. */
export interface AttackTarget {
  url: string;
  connections: number;
}

export function startAttackers(target: AttackTarget): Attackers {
  const worker = new Worker(join(import.meta.dirname, 'attackers-thread.ts'), { workerData: target });
  // Its exit is the last thing that is heard of it.
  const ended = once(worker, 'exit').then(() => {
    throw new Error('The thread of the attackers has ended before its work');
  });
  ended.catch(() => {});
  const tell = async (order: AttackOrder) => {
    worker.postMessage(order);
    // An error of the thread is thrown here.
    return (await Promise.race([once(worker, 'message'), ended]))[0];
  };
  return {
    attack: (pace) => tell({ attack: pace }),
    close: () => tell('close'),
  };
}
