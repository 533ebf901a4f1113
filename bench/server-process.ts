import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ask, type Listening } from './peers/answers.ts';
import type { ServerEntry } from './peers/servers.ts';

/** The core of the load and of REST. */
export const loadCore = 0;
const serverCore = cpus().length - 1;
// Without `taskset`, or with one core, the system places the processes.
const canPin = cpus().length > 1 && hasTaskset();

/** A text for the results: how servers and load share the machine. */
export const sharing = canPin
  ? 'the server on one core, load and REST on the other'
  : 'not pinned to cores, so load, REST and server disturb each other';

/** A server that is measured. */
export interface Server extends Listening {
  process: ChildProcess;
  /** The time from the start of the process to the first response. */
  startMs: number;
  /** The CPU time of all threads of the process until now, in microseconds. */
  cpuUs(): number;
  /** The resident memory now, in bytes. */
  residentBytes(): number;
  /** The highest resident memory since `forgetPeak`, in bytes. */
  peakBytes(): number;
  forgetPeak(): void;
  stop(): void;
}

export interface NodeOptions {
  /** The core to run on; undefined for any core. */
  core: number | undefined;
  env: NodeJS.ProcessEnv;
  cwd?: string;
  stdio: StdioOptions;
}

/** Starts Node with these arguments. The new process ends when this process ends. */
export function startNode(args: readonly string[], { core, ...options }: NodeOptions): ChildProcess {
  const pin = canPin && core !== undefined ? ['taskset', '-c', String(core)] : [];
  const [command = '', ...rest] = [...pin, process.execPath, ...args];
  const child = spawn(command, rest, options);
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
}

/** Makes signals that end this process end its child processes too. */
export function endWithChildren(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
}

/** Moves this process to the core of the load, and makes it end its child processes. */
export function runAsLoad(): void {
  endWithChildren();
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(loadCore), String(process.pid)]);
}

const patienceMs = 30_000;
// USER_HZ, which is 100 on every Linux that runs Node.
const usPerTick = 10_000;

export interface ServerOptions {
  /** By default, errors are printed and other output is not. */
  stdio?: StdioOptions;
  /** Whether the server has a core for itself; true by default. */
  isPinned?: boolean;
}

/**
 * Starts a server on a free port.
 * @throws Error if it does not respond in time.
 */
export async function startServer(
  entry: ServerEntry,
  upstreamUrl: string,
  { stdio = ['ignore', 'ignore', 'inherit'], isPinned = true }: ServerOptions = {},
): Promise<Server> {
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    PORT: String(port),
    UPSTREAM_URL: upstreamUrl,
    ...entry.env,
  };
  const startedAtMs = performance.now();
  const child = startNode(entry.args, {
    core: isPinned ? serverCore : undefined,
    env,
    cwd: entry.directory,
    stdio,
  });
  const stop = () => void child.kill('SIGKILL');
  while (!(await answers({ entry, port }))) {
    if (child.exitCode !== null || performance.now() - startedAtMs > patienceMs) {
      stop();
      throw new Error(`${entry.name} does not answer on port ${port}`);
    }
    await pause(5);
  }
  const startMs = performance.now() - startedAtMs;
  const { pid } = child;
  const status = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) *
    1_024;
  return {
    entry,
    port,
    process: child,
    startMs,
    cpuUs() {
      // The fields after the name of the process. The name ends with the closing bracket.
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * usPerTick;
    },
    residentBytes: () => status('VmRSS'),
    peakBytes: () => status('VmHWM'),
    forgetPeak: () => writeFileSync(`/proc/${pid}/clear_refs`, '5'),
    stop,
  };
}

async function answers(server: Listening): Promise<boolean> {
  try {
    await ask(server, 'typename', 'started');
    return true;
  } catch {
    // The server does not listen yet, or is not ready.
    return false;
  }
}

/** A free port below the ports of outgoing connections, so that no connection takes it before the server does. */
async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    // Another process listens on this port.
    return freePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
