import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documents, shaped } from './hive-gateway/questions.ts';
import type { WorkloadName } from './workloads.ts';

/** A server of the comparison. It is started with NODE_ENV=production, PORT and UPSTREAM_URL. */
export interface ServerEntry {
  name: string;
  /** The working directory, with the server's package.json. */
  directory: string;
  /** The arguments of Node. */
  args: readonly string[];
  env?: Record<string, string>;
  /** The main packages of the server, as in its package.json. Their versions are printed. */
  packages: readonly string[];
  isInShort: boolean;
  path(workload: WorkloadName): string;
  /** For a schema with other names: its documents, and a function that gives its data the shape of all others. */
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

/** Waybill of a checkout, started as by its `npm start`. */
export function waybillIn(directory: string): ServerEntry {
  const start = packageIn(directory).scripts.start ?? '';
  const args = start.slice(start.lastIndexOf('node ') + 'node '.length).split(' ');
  return {
    name: waybillName,
    directory,
    args,
    env: { LOG_LEVEL: 'silent', STATE_FILE: 'memory' },
    packages: [],
    isInShort: true,
    path,
  };
}

const byHand: ServerEntry = {
  name: limitName,
  directory: root,
  args: ['bench/peers/by-hand/server.ts'],
  packages: ['undici'],
  isInShort: true,
  path: (workload) => `/${workload}`,
};

export const waybill: ServerEntry = waybillIn(root);

/** An entry of a server with a folder here. */
function peer(
  folder: string,
  name: string,
  packages: string[],
  options: Partial<ServerEntry> = {},
): ServerEntry {
  const directory = join(import.meta.dirname, folder);
  return { name, directory, args: ['server.js'], packages, isInShort: true, path, ...options };
}

/** All servers. The limit is first. */
export const servers: readonly ServerEntry[] = [
  byHand,
  waybill,
  peer('mercurius', 'Mercurius', ['mercurius', 'fastify', 'graphql']),
  peer('yoga-pothos', 'Yoga with Pothos', ['graphql-yoga', '@pothos/core', 'dataloader', 'graphql']),
  peer('yoga-pothos', 'Yoga with Pothos and list pages', [], {
    env: { LIST_PAGES: 'yes' },
    isInShort: false,
  }),
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
  // A package.json has these properties.
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as PackageJson;
}

/** Installs the packages of a server, unless it has them. @returns whether the server has its packages now. */
export function install({ name, directory }: ServerEntry): boolean {
  if (existsSync(join(directory, 'node_modules'))) return true;
  try {
    const args = ['ci', '--omit=dev', '--no-audit', '--no-fund'];
    execFileSync('npm', args, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    process.stderr.write(`${name} is not measured, because its packages could not be installed: ${reason}\n`);
    return false;
  }
}
