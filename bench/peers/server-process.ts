import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ask, type Listening } from './ask.ts';
import { startPinned } from './pinned.ts';
import type { ServerEntry } from './servers.ts';

/** A server under measure. */
export interface Server extends Listening {
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

const patienceMs = 30_000;
// USER_HZ, which is 100 on every Linux that runs Node.
const usPerTick = 10_000;

/** @throws Error where it does not answer in time. */
export async function startServer(
  entry: ServerEntry,
  { core, port, upstreamUrl }: { core: number; port: number; upstreamUrl: string },
): Promise<Server> {
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    PORT: String(port),
    UPSTREAM_URL: upstreamUrl,
    ...entry.env,
  };
  const startedAt = performance.now();
  const child = startPinned(core, entry.args, env, 'ignore', entry.directory);
  const stop = () => void child.kill('SIGKILL');
  try {
    while (!(await answers({ entry, port }))) {
      if (child.exitCode !== null || performance.now() - startedAt > patienceMs)
        throw new Error(`${entry.name} does not answer on port ${port}`);
      await pause(5);
    }
  } catch (error) {
    stop();
    throw error;
  }
  const startMs = performance.now() - startedAt;
  const { pid } = child;
  const status = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) *
    1_024;
  return {
    entry,
    port,
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
