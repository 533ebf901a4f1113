/**
 * `npm run bench`: Waybill beside a hand-written server that makes the same REST calls, which is the limit, and other GraphQL
 * servers over the same REST service. Prints Markdown, for the README. `--short` takes fewer servers, loads and rounds.
 */

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { compareAnswers } from './answers.ts';
import { areSame, callsOf, described as describedCalls, turnsOf } from './calls.ts';
import { freePort } from './free-port.ts';
import { endWithChildren, pinThis, sharing } from './pinned.ts';
import { resultsTable } from './results-table.ts';
import { askFor, measure } from './rounds.ts';
import { described, hasLoad, loads, type Scenario, scenarios } from './scenarios.ts';
import { type Server, startServer } from './server-process.ts';
import {
  servers as entries,
  install,
  limitName,
  type ServerEntry,
  versionsOf,
  waybillName,
} from './servers.ts';
import { startUpTable } from './start-up.ts';
import type { Result } from './targets.ts';
import { targetsTable } from './targets-table.ts';
import { startUpstream } from './upstream.ts';
import { type WorkloadName, workloads } from './workloads.ts';

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    /** Some servers and workloads alone, by parts of their names: `--servers waybill,mercurius`. */
    servers: { type: 'string' },
    workloads: { type: 'string' },
    rounds: { type: 'string' },
    'round-ms': { type: 'string' },
  },
});
const isShort = options.short;
const rounds = {
  rounds: Number(options.rounds ?? (isShort ? 3 : 5)),
  roundMs: Number(options['round-ms'] ?? (isShort ? 1_000 : 2_000)),
};
// By these all servers are held against each other. On a machine that others keep busy, a server's rounds differ by a third.
const fullRounds = isShort ? rounds.rounds : 3 * rounds.rounds;
// Compilers are done with what is hot after some 50,000 single orders. On a machine that others keep busy, a server that was
// asked for eight seconds took a quarter more CPU time for each than it did after 16, and its compiler was still at work.
const warmUpMs = isShort ? 5_000 : 20_000;
// Before the first round of a scenario, so that what is learned by token is learned.
const settleMs = 300;
const serverCore = cpus().length - 1;
const loadCore = 0;
const print = (text: string) => process.stdout.write(`${text}\n`);

function isWanted(name: string, list: string | undefined): boolean | undefined {
  return list?.split(',').some((part) => name.toLowerCase().includes(part.toLowerCase()));
}

const startedAt = performance.now();
const installed = entries
  .filter(
    ({ name, isInShort }) =>
      name === limitName || (isWanted(name, options.servers) ?? (!isShort || isInShort)),
  )
  .filter(install);
endWithChildren();
pinThis(loadCore);
const upstream = await startUpstream(loadCore);
const results: Result[] = [];

async function start(entry: ServerEntry): Promise<Server> {
  return startServer(entry, { core: serverCore, port: await freePort(), upstreamUrl: upstream.url });
}

/** Says so where the hand-written server does not make the calls of Waybill, as it is then no limit for it. */
async function compareCalls(running: readonly Server[], scenario: Scenario): Promise<number> {
  const [limit, waybill] = [limitName, waybillName].map((name) =>
    running.find(({ entry }) => entry.name === name),
  );
  const ofLimit = limit === undefined ? [] : await callsOf(limit, scenario, upstream);
  const expected = waybill === undefined ? ofLimit : await callsOf(waybill, scenario, upstream);
  if (!areSame(expected, ofLimit))
    print(
      `\nOther calls: ${waybillName} ${describedCalls(expected)}; ${limitName} ${describedCalls(ofLimit)}.`,
    );
  return turnsOf(ofLimit);
}

async function measured(all: readonly Server[], scenario: Scenario): Promise<void> {
  const running = isShort && scenario.inShort === 'ours' ? all.filter(({ entry }) => entry.isOurs) : all;
  print(`\nWith ${described(scenario)}:`);
  await upstream.turnTo({ delayMs: scenario.delayMs, keepsCalls: false });
  for (const server of running) await askFor(server, scenario, settleMs);
  const turns = await compareCalls(running, scenario);
  const seen = await measure(running, upstream, scenario, {
    ...rounds,
    rounds: hasLoad(scenario, loads.full) ? fullRounds : rounds.rounds,
  });
  results.push({ scenario, measured: seen, turns });
  print(`\n${resultsTable(seen)}`);
}

function leftOut(error: unknown): void {
  print(`\nNot measured: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

async function run(workload: WorkloadName): Promise<void> {
  const chosen = scenarios.filter(
    (scenario) => scenario.workload === workload && (!isShort || scenario.inShort !== 'none'),
  );
  const [first] = chosen;
  if (first === undefined) return;
  print(`\n### ${workloads[workload].title}`);
  const running: Server[] = [];
  try {
    for (const entry of installed) running.push(await start(entry));
    await compareAnswers(running, workload);
    await upstream.turnTo({ delayMs: 0, keepsCalls: false });
    for (const server of running) await askFor(server, first, warmUpMs);
    for (const scenario of chosen) await measured(running, scenario).catch(leftOut);
  } finally {
    for (const server of running) server.stop();
  }
}

print(`${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus()[0]?.model}, \
${cpus().length} cores: ${sharing}. ${rounds.rounds} rounds of ${rounds.roundMs / 1_000} s each, \
and ${fullRounds} with a new bearer on every request, no delay and ${loads.full.connections} connections.\n`);
for (const entry of installed) print(`- ${[entry.name, versionsOf(entry)].filter(Boolean).join(': ')}`);
try {
  // The keys of an object of this very type.
  for (const workload of Object.keys(workloads) as WorkloadName[])
    if (isWanted(workload, options.workloads) ?? true) await run(workload);
  print(`\n### Start-up and memory at rest\n\n${await startUpTable(installed, start, rounds.rounds)}`);
  print(`\n### The measure\n\n${targetsTable(results)}`);
} finally {
  upstream.close();
}
print(`\nIt took ${Math.round((performance.now() - startedAt) / 1_000)} s.`);
