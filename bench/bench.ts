/**
 * `npm run bench`: compares Waybill with other GraphQL servers over the same REST service. A hand-written server that
 * makes the same REST calls is the limit. Prints Markdown. `--short` uses fewer servers, loads and rounds.
 * `--against <directory>` compares Waybill with the Waybill of another checkout instead. README.md explains the method.
 */

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { pairsTable } from './peers/against.ts';
import { areSame, callsOf, compareAnswers, describedCalls, turnsOf } from './peers/answers.ts';
import { askFor, measure, measureCold } from './peers/rounds.ts';
import { described, hasLoad, loads, type Scenario, scenarios } from './peers/scenarios.ts';
import { install, limitName, type ServerEntry, servers, versionsOf, waybillName } from './peers/servers.ts';
import { resultsTable, startUpTable } from './peers/tables.ts';
import { type Result, targetsTable } from './peers/targets.ts';
import { type WorkloadName, workloads } from './peers/workloads.ts';
import { loadCore, runAsLoad, type Server, sharing, startServer } from './server-process.ts';
import { startUpstream } from './upstream.ts';

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    against: { type: 'string' },
    /** Selects servers and workloads by parts of their names: `--servers waybill,mercurius`. */
    servers: { type: 'string' },
    workloads: { type: 'string' },
    rounds: { type: 'string' },
    'round-ms': { type: 'string' },
    'warm-up-ms': { type: 'string' },
    'cold-ms': { type: 'string', default: '5000' },
  },
});
const isShort = options.short || options.against !== undefined;
const rounds = {
  rounds: Number(options.rounds ?? (options.against ? 8 : isShort ? 3 : 5)),
  roundMs: Number(options['round-ms'] ?? (isShort ? 1_000 : 2_000)),
};
// All servers are compared by these rounds. On a busy machine, the rounds of one server differ by a third.
const fullRounds = isShort ? rounds.rounds : 3 * rounds.rounds;
const coldWorkloads: readonly WorkloadName[] = ['shipments', 'deep'];
// V8 has compiled the hot code after about 50,000 requests for single orders. On a busy machine, a request needed a
// quarter more CPU time after eight seconds of requests than after 16 seconds, because V8 still compiled.
const warmUpMs = Number(options['warm-up-ms'] ?? (options.against ? 9_000 : isShort ? 5_000 : 20_000));
const coldMs = Number(options['cold-ms']);
// The time of requests before the first round of a scenario, in which a server learns about the token.
const settleMs = 300;
const print = (text: string) => process.stdout.write(`${text}\n`);

function isWanted(name: string, list: string | undefined): boolean | undefined {
  return list?.split(',').some((part) => name.toLowerCase().includes(part.toLowerCase()));
}

const startedAtMs = performance.now();
runAsLoad();
const upstream = await startUpstream('upstream-process.ts', loadCore);
const start = (entry: ServerEntry) => startServer(entry, upstream.url);
const results: Result[] = [];
// The keys of `workloads` are its names.
const wanted = (Object.keys(workloads) as WorkloadName[]).filter(
  (workload) => isWanted(workload, options.workloads) ?? true,
);

/**
 * Prints the calls of both if the hand-written server makes other calls than Waybill, because it is no limit then.
 */
async function compareCalls(running: readonly Server[], scenario: Scenario): Promise<number> {
  const [limit, waybill] = [limitName, waybillName].map((name) =>
    running.find(({ entry }) => entry.name === name),
  );
  const ofLimit = limit === undefined ? [] : await callsOf(limit, scenario, upstream);
  const expected = waybill === undefined ? ofLimit : await callsOf(waybill, scenario, upstream);
  if (!areSame(expected, ofLimit)) {
    const [ofWaybill, byHand] = [expected, ofLimit].map(describedCalls);
    print(`\nOther calls: ${waybillName} ${ofWaybill}; ${limitName} ${byHand}.`);
  }
  return turnsOf(ofLimit);
}

async function measured(all: readonly Server[], scenario: Scenario): Promise<void> {
  const isOurs = ({ entry }: Server) => entry.name === limitName || entry.name === waybillName;
  const running = isShort && scenario.inShort === 'ours' ? all.filter(isOurs) : all;
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

/** Starts the servers again for each round, so no other server runs beside the measured server. */
async function measuredCold(installed: readonly ServerEntry[], scenario: Scenario): Promise<void> {
  print(`\nWith servers that have just started, ${described(scenario)}:`);
  const seen = await measureCold(installed, scenario, { start, upstream, coldMs, ...rounds });
  print(`\n${resultsTable(seen)}`);
}

function leftOut(error: unknown): void {
  print(`\nNot measured: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

async function run(installed: readonly ServerEntry[], workload: WorkloadName): Promise<void> {
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
  const full = coldWorkloads.includes(workload) && chosen.find((scenario) => hasLoad(scenario, loads.full));
  if (full) await measuredCold(installed, full).catch(leftOut);
}

async function compareServers(): Promise<void> {
  const chosen = servers.filter(
    ({ name, isInShort }) =>
      name === limitName || (isWanted(name, options.servers) ?? (!isShort || isInShort)),
  );
  const installed = chosen.filter(install);
  print(`${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus()[0]?.model}, \
${cpus().length} cores: ${sharing}. ${rounds.rounds} rounds of ${rounds.roundMs / 1_000} s each, \
and ${fullRounds} with a new bearer on every request, no delay and ${loads.full.connections} connections. \
One cold round of ${coldMs / 1_000} s for each three rounds.\n`);
  for (const entry of installed) print(`- ${[entry.name, versionsOf(entry)].filter(Boolean).join(': ')}`);
  for (const workload of wanted) await run(installed, workload);
  print(`\n### Start-up and memory at rest\n\n${await startUpTable(installed, start, rounds.rounds)}`);
  print(`\n### The measure\n\n${targetsTable(results)}`);
}

try {
  if (options.against === undefined) await compareServers();
  else print(await pairsTable(options.against, wanted, { ...rounds, warmUpMs, coldMs, start, upstream }));
} finally {
  upstream.close();
}
print(`\nIt took ${Math.round((performance.now() - startedAtMs) / 1_000)} s.`);
