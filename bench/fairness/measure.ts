import { once } from 'node:events';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { megabytes } from '../markdown-table.ts';
import type { ServerEntry } from '../peers/servers.ts';
import { loadCore, type Server, startNode, startServer } from '../server-process.ts';
import type { AttackOrder, Statuses } from './attacker-process.ts';
import { type Attack, attacks } from './attacks.ts';
import { type Figures, spreadOf } from './figures.ts';
import { longestHold, probeArguments } from './held-loop.ts';
import { newAgent, newTokenProbe, type Probe, pageProbe, probesOf, sample, type Waits } from './probes.ts';

/** How an attack is measured. */
export interface MeasureOptions {
  entry: ServerEntry;
  upstreamUrl: string;
  /** How often a burst is sent, unless the tries take 30 seconds. */
  tries: number;
  /** The samples of each probe during another attack, unless they take 30 seconds. */
  samples: number;
}

const warmUpSamples = 50;
/** When an attack slows the probes down, fewer tries or samples say enough. */
const longestMs = 30_000;
// With 200 samples, an attack goes on for at least 8 seconds: longer than the server's shortest timeout.
const [pauseMs, pauseInBurstMs, pauseOfPagesMs] = [40, 5, 500];
const newTokens = 5;

/**
 * Runs an attack on a new server, and measures others meanwhile.
 * @param name of an attack, or another text for none
 */
export async function measure(name: string, options: MeasureOptions): Promise<Figures> {
  const { entry, upstreamUrl } = options;
  const attack = attacks[name];
  const server = await startServer({ ...entry, args: [...probeArguments, ...entry.args] }, upstreamUrl, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const kept = newAgent();
  try {
    const probes = probesOf(server, kept);
    if (attack?.beside !== 'new token') {
      await sample(probes, { pauseMs: 0, mayGoOn: (taken) => taken < warmUpSamples });
    }
    await longestHold(server.process);
    const run = attack?.next === 'ends' ? measureBurst : measureSiege;
    const { waits, statuses } = await run({ ...options, name, attack, server, probes });
    return {
      waits: Object.fromEntries(Object.entries(waits).map(([probe, own]) => [probe, spreadOf(own)])),
      failed: Object.values(waits).reduce((sum, { failed }) => sum + failed, 0),
      ...(await figuresOf(server)),
      statuses,
    };
  } finally {
    await kept.destroy();
    server.stop();
  }
}

/** The figures of a process, or NaN if it has ended. */
async function figuresOf({ process, peakBytes }: Server): Promise<Pick<Figures, 'longestHoldMs' | 'peakMb'>> {
  const ended = { longestHoldMs: Number.NaN, peakMb: Number.NaN };
  if (process.exitCode !== null || process.signalCode !== null) return ended;
  const told = longestHold(process).then(({ ms }) => ({
    longestHoldMs: ms,
    peakMb: megabytes(peakBytes()),
  }));
  return Promise.race([told, once(process, 'exit').then(() => ended)]);
}

interface Scene extends MeasureOptions {
  name: string;
  attack: Attack | undefined;
  server: Server;
  probes: ReturnType<typeof probesOf>;
}

interface Seen {
  waits: Awaited<ReturnType<typeof sample>>;
  statuses: Statuses;
}

async function measureBurst({ name, server, probes, tries }: Scene): Promise<Seen> {
  const waits: Seen['waits'] = {};
  const statuses: Statuses = {};
  const endsAtMs = performance.now() + longestMs;
  for (let n = 0; n < tries && performance.now() < endsAtMs; n += 1) {
    const attack = startAttack(name, server.port);
    let isOver = false;
    void attack.ended.then(() => {
      isOver = true;
    });
    const own = await sample(probes, { pauseMs: pauseInBurstMs, mayGoOn: () => !isOver });
    for (const [status, times] of Object.entries(await attack.ended)) {
      statuses[status] = (statuses[status] ?? 0) + times;
    }
    for (const [probe, { ms, failed }] of entriesOf(own)) {
      const { ms: earlier = [], failed: failedEarlier = 0 } = waits[probe] ?? {};
      waits[probe] = { ms: [...earlier, ...ms], failed: failedEarlier + failed };
    }
  }
  return { waits, statuses };
}

// The keys of an object literal are its names.
const entriesOf = (waits: Seen['waits']) => Object.entries(waits) as [keyof typeof waits, Waits][];

async function measureSiege({ name, attack, server, probes, samples }: Scene): Promise<Seen> {
  const running = attack && startAttack(name, server.port);
  const waits: Seen['waits'] = {};
  if (attack?.beside === 'new token') {
    await running?.running;
    waits['new token'] = await askNewTokens((number) => newTokenProbe(server, number));
  } else {
    // The attack must run when the first sample is taken.
    await pause(1_500);
  }
  const endsAtMs = performance.now() + longestMs;
  let isOver = false;
  const usual = sample(probes, {
    pauseMs,
    mayGoOn: (taken) => taken < samples && performance.now() < endsAtMs,
  }).finally(() => {
    isOver = true;
  });
  const pages = attack?.beside === 'pages' ? { 'page of 1,000': pageProbe(server) } : {};
  const beside = sample(pages, { pauseMs: pauseOfPagesMs, mayGoOn: () => !isOver });
  Object.assign(waits, ...(await Promise.all([usual, beside])));
  return { waits, statuses: (await running?.stop()) ?? {} };
}

/** Asks with new tokens, one after the other: the first while no token is known, the last beside known ones. */
async function askNewTokens(probeOf: (number: number) => Probe): Promise<Waits> {
  const waits: Waits = { ms: [], failed: 0 };
  for (let number = 1; number <= newTokens; number += 1) {
    await probeOf(number)(waits);
    await pause(pauseMs);
  }
  return waits;
}

interface RunningAttack {
  /** All connections have sent a request. */
  running: Promise<void>;
  /** The responses, once the attack has ended by itself. */
  ended: Promise<Statuses>;
  stop(): Promise<Statuses>;
}

function startAttack(name: string, port: number): RunningAttack {
  const child = startNode([join(import.meta.dirname, 'attacker-process.ts')], {
    core: loadCore,
    env: process.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // The probes share a core with the attackers, and must not wait for them.
  if (child.pid !== undefined) setPriority(child.pid, 15);
  const running = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Statuses>();
  child.on('message', (message) => {
    if (message === 'running') running.resolve();
    // The process has no other messages.
    else ended.resolve(message as Statuses);
  });
  child.send({ name, port } satisfies AttackOrder);
  return {
    running: running.promise,
    ended: ended.promise,
    async stop() {
      child.send('stop');
      return ended.promise;
    },
  };
}
