/**
 * `npm run bench:fairness`: what attackers cost others. `/health/live` and a small query of another merchant are sampled
 * during each attack, on a connection that stays open and on new ones. Attackers, REST and server are processes of
 * their own. The exit code does not depend on the times.
 */

import { once } from 'node:events';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import type { AttackOrder, Statuses } from './fairness/attacker-process.ts';
import { bursts, sieges } from './fairness/attacks.ts';
import { longestHold, probeArguments } from './fairness/held-loop.ts';
import { percentile } from './load.ts';
import { markdownTable } from './markdown-table.ts';
import { waybillIn } from './peers/servers.ts';
import { loadCore, runAsLoad, type Server, sharing, startNode, startServer } from './server-process.ts';
import { tokenOf } from './tenants.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const { values: options } = parseArgs({
  options: {
    /** Only the attacks whose name contains one of these texts, separated by `;`. */
    attacks: { type: 'string', default: '' },
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
const tries = Number(options.tries);
const samples = Number(options.samples);
const chosen = options.attacks.split(';');
const isChosen = (name: string) => chosen.some((text) => name.includes(text));
const print = (text: string) => process.stdout.write(`${text}\n`);

const betweenSamplesMs = 20;
const patienceMs = 30_000;
const entry = waybillIn(options.checkout);

/** The waits of one probe. */
interface Waits {
  ms: number[];
  /** Answers that were not right: a refusal, or no answer in time. */
  failed: number;
}

type Probe = (waits: Waits) => Promise<void>;

const smallQuery = JSON.stringify({ query: '{ orders(first: 1) { nodes { id } } }' });

/** The probes by name. Each sends one request, and notes how long the answer took. */
function probesOf({ port }: Server, connections: { kept: Agent }): Record<string, Probe> {
  const origin = `http://127.0.0.1:${port}`;
  const live = (dispatcher: Agent) => request(`${origin}/health/live`, { dispatcher });
  const small = (dispatcher: Agent) =>
    request(`${origin}/graphql`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tokenOf(1)}` },
      body: smallQuery,
    });
  const onKept = (ask: typeof live) => timed(() => ask(connections.kept));
  const onNew = (ask: typeof live) =>
    timed(async () => {
      const agent = newAgent();
      const answer = await ask(agent);
      return Object.assign(answer, { agent });
    });
  return {
    'live, kept open': onKept(live),
    'live, new': onNew(live),
    'small query, kept open': onKept(small),
    'small query, new': onNew(small),
  };
}

const newAgent = () =>
  new Agent({ headersTimeout: patienceMs, bodyTimeout: patienceMs, connect: { timeout: patienceMs } });

function timed(ask: () => Promise<Awaited<ReturnType<typeof request>> & { agent?: Agent }>): Probe {
  return async (waits) => {
    const startedAtMs = performance.now();
    try {
      const { statusCode, body, agent } = await ask();
      const text = await body.text();
      if (statusCode !== 200 || text.includes('"errors"')) waits.failed += 1;
      await agent?.close();
    } catch {
      waits.failed += 1;
    }
    waits.ms.push(performance.now() - startedAtMs);
  };
}

/** Runs `ask` with the waits of each probe, all probes at once. */
async function sample(
  probes: Record<string, Probe>,
  ask: (once: () => Promise<void>) => Promise<void>,
): Promise<Record<string, Waits>> {
  const waits: Record<string, Waits> = {};
  await Promise.all(
    Object.entries(probes).map(async ([name, probe]) => {
      const own: Waits = { ms: [], failed: 0 };
      waits[name] = own;
      await ask(() => probe(own));
    }),
  );
  return waits;
}

interface RunningAttack {
  /** The responses, once the attack has ended by itself. */
  ended: Promise<Statuses>;
  stop(): Promise<Statuses>;
}

function startAttack(name: string, port: number): RunningAttack {
  const child = startNode([join(import.meta.dirname, 'fairness/attacker-process.ts')], {
    core: loadCore,
    env: process.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // The probes share a core with the attackers, and must not wait for them.
  if (child.pid !== undefined) setPriority(child.pid, 15);
  const ended = once(child, 'message').then(([statuses]) => statuses as Statuses);
  child.send({ name, port } satisfies AttackOrder);
  return {
    ended,
    async stop() {
      child.send('stop');
      return ended;
    },
  };
}

/** Runs `measure` with a new server that has answered some small queries of the other merchant. */
async function withServer(
  upstream: Upstream,
  measure: (server: Server, probes: Record<string, Probe>) => Promise<void>,
): Promise<void> {
  const server = await startServer({ ...entry, args: [...probeArguments, ...entry.args] }, upstream.url, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const kept = newAgent();
  try {
    const probes = probesOf(server, { kept });
    await sample(probes, async (once) => {
      for (let n = 0; n < 50; n += 1) await once();
    });
    await longestHold(server.process);
    await measure(server, probes);
  } finally {
    await kept.destroy();
    server.stop();
  }
}

const mb = (bytes: number) => (bytes / 1_048_576).toFixed(0);
const asText = (statuses: Statuses) =>
  Object.entries(statuses)
    .map(([status, times]) => `${times} × ${status}`)
    .join(', ');

runAsLoad();
const upstream = await startUpstream('upstream-process.ts', loadCore);
await upstream.turnTo({ delayMs: Number(options['delay-ms']), keepsCalls: false });
print(`${sharing}\n`);

const burstRows: (string | number)[][] = [];
for (const name of Object.keys(bursts).filter(isChosen)) {
  await withServer(upstream, async (server, probes) => {
    const longest: Record<string, number[]> = {};
    let failed = 0;
    let statuses: Statuses = {};
    for (let n = 0; n < tries; n += 1) {
      const attack = startAttack(name, server.port);
      let isOver = false;
      void attack.ended.then(() => {
        isOver = true;
      });
      const waits = await sample(probes, async (once) => {
        do {
          await once();
          await pause(5);
        } while (!isOver);
      });
      statuses = await attack.ended;
      for (const [probe, { ms, failed: times }] of Object.entries(waits)) {
        longest[probe] ??= [];
        longest[probe].push(Math.max(...ms));
        failed += times;
      }
    }
    const mean = (values: number[]) => values.reduce((sum, ms) => sum + ms, 0) / values.length;
    burstRows.push([
      name,
      ...Object.values(longest).map((ms) => `${mean(ms).toFixed(0)} (${Math.max(...ms).toFixed(0)})`),
      failed,
      (await longestHold(server.process)).ms.toFixed(0),
      mb(server.peakBytes()),
      asText(statuses),
    ]);
  });
}
const probeNames = ['live, kept open', 'live, new', 'small query, kept open', 'small query, new'];
const lastColumns = ['failed', 'longest hold, ms', 'peak MB', 'responses'];
if (burstRows.length > 0) {
  print(`Bursts: the longest wait of a try in ms, mean of ${tries} tries (longest)\n`);
  print(`${markdownTable(['attack', ...probeNames, ...lastColumns], burstRows)}\n`);
}

const siegeRows: (string | number)[][] = [];
for (const name of ['nothing', ...Object.keys(sieges)].filter(isChosen)) {
  await withServer(upstream, async (server, probes) => {
    const attack = name === 'nothing' ? undefined : startAttack(name, server.port);
    // The attack must run when the first sample is taken.
    await pause(1_500);
    const waits = await sample(probes, async (once) => {
      for (let n = 0; n < samples; n += 1) {
        await once();
        await pause(betweenSamplesMs);
      }
    });
    const statuses = (await attack?.stop()) ?? {};
    siegeRows.push([
      name,
      ...Object.values(waits).map(({ ms }) => {
        const sorted = ms.toSorted((a, b) => a - b);
        return [0.5, 0.99, 1].map((part) => percentile(sorted, part).toFixed(0)).join(' / ');
      }),
      Object.values(waits).reduce((sum, { failed }) => sum + failed, 0),
      (await longestHold(server.process)).ms.toFixed(0),
      mb(server.peakBytes()),
      asText(statuses),
    ]);
  });
}
if (siegeRows.length > 0) {
  print(`Other attacks: p50 / p99 / longest wait in ms of ${samples} samples\n`);
  print(`${markdownTable(['attack', ...probeNames, ...lastColumns], siegeRows)}\n`);
}
upstream.close();
