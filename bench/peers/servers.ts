import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documents, shaped } from './hive-gateway/questions.ts';
import type { WorkloadName } from './workloads.ts';

/** A server of the comparison. Each is started with NODE_ENV=production, and takes PORT and UPSTREAM_URL. */
export interface ServerEntry {
  name: string;
  /** Where it runs, and where its own package.json is. */
  directory: string;
  /** What Node runs, from there. */
  args: readonly string[];
  env?: Record<string, string>;
  /** The packages that it is made of, for the table, as they are in its package.json. */
  packages: readonly string[];
  isInShort: boolean;
  path(workload: WorkloadName): string;
  /** Where its schema has other names: what it is asked, and how its data is made like that of the others. */
  documents?: Partial<Record<WorkloadName, string>>;
  shaped?: (data: unknown, workload: WorkloadName) => unknown;
}

interface PackageJson {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
}

const root = join(import.meta.dirname, '..', '..');
const path = () => '/graphql';

export const limitName = 'by hand';
export const waybillName = 'Waybill';

/** Waybill in a checkout, as its `npm start` runs it. */
export function waybillIn(directory: string): ServerEntry {
  const start = packageIn(directory).scripts.start ?? '';
  const args = start.slice(start.lastIndexOf('node ') + 'node '.length).split(' ');
  return {
    name: waybillName,
    directory,
    args,
    env: { LOG_LEVEL: 'silent' },
    packages: [],
    isInShort: true,
    path,
  };
}

export const byHand: ServerEntry = {
  name: limitName,
  directory: root,
  args: ['bench/peers/by-hand/server.ts'],
  packages: ['undici'],
  isInShort: true,
  path: (workload) => `/${workload}`,
};

export const waybill: ServerEntry = waybillIn(root);

/** Of a server that has its folder here. */
function peer(
  folder: string,
  name: string,
  packages: string[],
  options: Partial<ServerEntry> = {},
): ServerEntry {
  const directory = join(import.meta.dirname, folder);
  return { name, directory, args: ['server.js'], packages, isInShort: true, path, ...options };
}

/** The limit comes first, then what is measured against it. */
export const servers: readonly ServerEntry[] = [
  byHand,
  waybill,
  peer('mercurius', 'Mercurius', ['mercurius', 'fastify', 'graphql']),
  peer('yoga-pothos', 'Yoga with Pothos', ['graphql-yoga', '@pothos/core', 'dataloader', 'graphql']),
  peer('apollo', 'Apollo Server', ['@apollo/server', '@apollo/datasource-rest', 'fastify', 'graphql']),
  peer('hive-gateway', 'Hive Gateway', ['@graphql-hive/gateway', '@graphql-mesh/transport-rest', 'graphql'], {
    args: ['node_modules/@graphql-hive/gateway/dist/bin.js', 'supergraph'],
    isInShort: false,
    documents,
    shaped,
  }),
];

/** `mercurius 16.10.1, fastify 5.12.8`. */
export function versionsOf({ directory, packages }: ServerEntry): string {
  const { dependencies } = packageIn(directory);
  return packages.map((name) => `${name} ${dependencies[name]}`).join(', ');
}

function packageIn(directory: string): PackageJson {
  // A package.json, which has these as text.
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as PackageJson;
}

/** Installs what a server needs, where it is not there yet. Answers whether it is there now. */
export function install({ name, directory }: ServerEntry): boolean {
  if (existsSync(join(directory, 'node_modules'))) return true;
  try {
    const args = ['ci', '--omit=dev', '--no-audit', '--no-fund'];
    execFileSync('npm', args, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    process.stderr.write(`${name} is left out, as it could not be installed: ${reason}\n`);
    return false;
  }
}
