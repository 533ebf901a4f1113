/**
 * `npm run bench`: Waybill beside a hand-written server that makes the same REST calls, which is the limit, and other GraphQL
 * servers over the same REST service. Prints Markdown, for the README. `--short` takes fewer servers, scenarios and rounds.
 */

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { callsOf, compareAnswers } from './answers.ts';
import { freePort } from './free-port.ts';
import { endWithChildren, pinThis, sharing } from './pinned.ts';
import { resultsTable } from './results-table.ts';
import { askFor, measure } from './rounds.ts';
import { described, scenarios } from './scenarios.ts';
import { type Server, startServer } from './server-process.ts';
import { servers as entries, install, versionsOf } from './servers.ts';
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
  roundMs: Number(options['round-ms'] ?? (isShort ? 1_000 : 1_800)),
  settleMs: 300,
};
const warmUpMs = isShort ? 2_000 : 4_000;
const serverCore = cpus().length - 1;
const loadCore = 0;
const print = (text: string) => process.stdout.write(`${text}\n`);

function isWanted(name: string, list: string | undefined): boolean | undefined {
  return list?.split(',').some((part) => name.toLowerCase().includes(part.toLowerCase()));
}

const wanted = entries.filter(
  (entry, place) => place === 0 || (isWanted(entry.name, options.servers) ?? (!isShort || entry.isInShort)),
);
const installed = wanted.filter(install);
endWithChildren();
pinThis(loadCore);
const upstream = await startUpstream(loadCore);

async function startAll(): Promise<Server[]> {
  const running: Server[] = [];
  for (const entry of installed) {
    const port = await freePort();
    running.push(await startServer(entry, { core: serverCore, port, upstreamUrl: upstream.url }));
  }
  return running;
}

/** Says so where the hand-written server does not make the calls of Waybill, as it is then no limit for it. */
async function compareCalls(running: readonly Server[], workload: WorkloadName): Promise<void> {
  const byHand = running.find(({ entry }) => entry.name === 'by hand');
  const waybill = running.find(({ entry }) => entry.name === 'Waybill');
  if (byHand === undefined || waybill === undefined) return;
  const [expected, made] = [
    await callsOf(waybill, workload, upstream),
    await callsOf(byHand, workload, upstream),
  ];
  for (const bearer of ['new', 'constant'] as const) {
    if (expected[bearer].join() === made[bearer].join()) continue;
    print(
      `\nOther calls with a ${bearer} bearer: Waybill ${shown(expected[bearer])}, by hand ${shown(made[bearer])}.`,
    );
  }
}

function shown(lines: readonly string[]): string {
  const kinds = Map.groupBy(lines, (line) => line.replace(/(\/v1\/\w+\/)\w+/, '$1{id}'));
  return [...kinds].map(([kind, { length }]) => `${length} × \`${kind}\``).join(', ') || 'none';
}

async function run(workload: WorkloadName): Promise<void> {
  const chosen = scenarios.filter(
    (scenario) => scenario.workload === workload && (!isShort || scenario.isInShort),
  );
  const [first] = chosen;
  if (first === undefined) return;
  print(`\n### ${workloads[workload].title}`);
  const running = await startAll();
  try {
    await compareAnswers(running, workload);
    for (const server of running) await askFor(server, first, warmUpMs);
    await compareCalls(running, workload);
    for (const scenario of chosen) {
      const measured = await measure(running, upstream, scenario, rounds);
      print(`\nWith ${described(scenario)}:\n\n${resultsTable(measured)}`);
    }
  } finally {
    for (const server of running) server.stop();
  }
}

const startedAt = performance.now();
print(`${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus()[0]?.model}, \
${cpus().length} cores: ${sharing}. ${rounds.rounds} rounds of ${rounds.roundMs / 1_000} s each.\n`);
for (const entry of installed) print(`- ${[entry.name, versionsOf(entry)].filter(Boolean).join(': ')}`);
try {
  // The keys of an object of this very type.
  for (const workload of Object.keys(workloads) as WorkloadName[])
    if (isWanted(workload, options.workloads) ?? true) await run(workload);
} finally {
  upstream.close();
}
print(`\nIt took ${Math.round((performance.now() - startedAt) / 1_000)} s.`);
