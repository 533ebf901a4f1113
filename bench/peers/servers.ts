import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asStarted } from '../as-started.ts';
import { documents, shaped } from './hive-gateway/questions.ts';
import { bodiesOf, type WorkloadName, workloads } from './workloads.ts';

/** A server of the comparison. Each is started with NODE_ENV=production, and takes PORT and UPSTREAM_URL. */
export interface ServerEntry {
  name: string;
  /** Where it runs, and where its own package.json is, if it has one. */
  directory: string;
  /** What Node runs, from there. */
  args: readonly string[];
  env?: Record<string, string>;
  /** The packages that it is made of, for the table, as they are in its package.json. */
  packages: readonly string[];
  isInShort: boolean;
  /** Waybill and the limit. */
  isOurs: boolean;
  path(workload: WorkloadName): string;
  /** Where its schema has other names: what it is asked, and how its data is made like that of the others. */
  documents?: Partial<Record<WorkloadName, string>>;
  shaped?: (data: unknown, workload: WorkloadName) => unknown;
}

const root = join(import.meta.dirname, '..', '..');

/** Of a server that has its folder here. */
function peer(
  folder: string,
  name: string,
  packages: readonly string[],
  options: Partial<ServerEntry> = {},
): ServerEntry {
  return {
    name,
    directory: join(import.meta.dirname, folder),
    args: ['server.js'],
    packages,
    isInShort: false,
    isOurs: false,
    path: () => '/graphql',
    ...options,
  };
}

export const limitName = 'by hand';
export const waybillName = 'Waybill';

/** The limit comes first, then what is measured against it. */
export const servers: readonly ServerEntry[] = [
  {
    name: limitName,
    directory: root,
    args: ['bench/peers/by-hand/server.ts'],
    packages: ['undici'],
    isInShort: true,
    isOurs: true,
    path: (workload) => `/${workload}`,
  },
  {
    name: waybillName,
    directory: root,
    args: asStarted,
    env: { LOG_LEVEL: 'silent' },
    packages: [],
    isInShort: true,
    isOurs: true,
    path: () => '/graphql',
  },
  peer('mercurius', 'Mercurius', ['mercurius', 'fastify', 'graphql'], { isInShort: true }),
  peer('yoga-pothos', 'Yoga with Pothos', ['graphql-yoga', '@pothos/core', 'dataloader', 'graphql'], {
    isInShort: true,
  }),
  peer('apollo', 'Apollo Server', ['@apollo/server', '@apollo/datasource-rest', 'fastify', 'graphql'], {
    isInShort: true,
  }),
  peer('hive-gateway', 'Hive Gateway', ['@graphql-hive/gateway', '@graphql-mesh/transport-rest', 'graphql'], {
    args: ['node_modules/@graphql-hive/gateway/dist/bin.js', 'supergraph'],
    documents,
    shaped,
  }),
];

/** The bodies of the requests of a workload for this server. */
export function bodiesFor({ documents }: ServerEntry, workload: WorkloadName): string[] {
  const { document, variables } = workloads[workload];
  return bodiesOf({ document: documents?.[workload] ?? document, variables });
}

/** `mercurius 16.10.1, fastify 5.12.8`. */
export function versionsOf({ directory, packages }: ServerEntry): string {
  // A package.json, which has them as text.
  const { dependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return packages.map((name) => `${name} ${dependencies[name]}`).join(', ');
}

/** Installs what a server needs, where it is not there yet. Answers whether it is there now. */
export function install({ name, directory }: ServerEntry): boolean {
  if (existsSync(join(directory, 'node_modules'))) return true;
  try {
    execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], {
      cwd: directory,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return true;
  } catch (error) {
    process.stderr.write(
      `${name} is left out, as it could not be installed: ${error instanceof Error ? error.message : error}\n`,
    );
    return false;
  }
}
