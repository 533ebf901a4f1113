import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ask, type Listening } from './peers/answers.ts';
import type { ServerEntry } from './peers/servers.ts';

/** Where the load and REST run. */
export const loadCore = 0;
const serverCore = cpus().length - 1;
// Where there is no `taskset` or but one core, processes run where they will.
const canPin = cpus().length > 1 && hasTaskset();

/** For the table: how servers and load share the machine. */
export const sharing = canPin
  ? 'the server on one core, load and REST on the other'
  : 'not pinned to cores, so that load, REST and server disturb each other';

/** A server under measure. */
export interface Server extends Listening {
  process: ChildProcess;
  /** From the start of its process to its first answer. */
  startMs: number;
  /** What the process has used so far, in CPU microseconds of all its threads. */
  cpuUs(): number;
  /** What is resident now, in bytes. */
  residentBytes(): number;
  /** The most that was resident since `forgetPeak`, in bytes. */
  peakBytes(): number;
  forgetPeak(): void;
  stop(): void;
}

export interface NodeOptions {
  /** Undefined where it may run on any. */
  core: number | undefined;
  env: NodeJS.ProcessEnv;
  cwd?: string;
  stdio: StdioOptions;
}

/** Starts Node with these arguments. The process does not outlive this one. */
export function startNode(args: readonly string[], { core, ...options }: NodeOptions): ChildProcess {
  const pin = canPin && core !== undefined ? ['taskset', '-c', String(core)] : [];
  const [command = '', ...rest] = [...pin, process.execPath, ...args];
  const child = spawn(command, rest, options);
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
}

/** Has the signals that end this process end what it started too. */
export function endWithChildren(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
}

/** Moves this process to the core of the load, and has it end what it started too. */
export function runAsLoad(): void {
  endWithChildren();
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', String(loadCore), String(process.pid)]);
}

const patienceMs = 30_000;
// USER_HZ, which is 100 on every Linux that runs Node.
const usPerTick = 10_000;

export interface ServerOptions {
  /** Its errors are seen and its output is not when left out. */
  stdio?: StdioOptions;
  /** Whether the server has a core of its own; it has when left out. */
  isPinned?: boolean;
}

/**
 * Starts a server on a free port.
 * @throws Error where it does not answer in time.
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
  const startedAt = performance.now();
  const child = startNode(entry.args, {
    core: isPinned ? serverCore : undefined,
    env,
    cwd: entry.directory,
    stdio,
  });
  const stop = () => void child.kill('SIGKILL');
  while (!(await answers({ entry, port }))) {
    if (child.exitCode !== null || performance.now() - startedAt > patienceMs) {
      stop();
      throw new Error(`${entry.name} does not answer on port ${port}`);
    }
    await pause(5);
  }
  const startMs = performance.now() - startedAt;
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
      // The fields after the name, which may hold anything but a closing bracket.
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
    // It does not listen yet, or is not ready.
    return false;
  }
}

/** One below those that the system gives to connections, so that no connection takes it before the server does. */
async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    // Somebody listens there.
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
