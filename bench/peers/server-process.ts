import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { startPinned } from './pinned.ts';
import type { ServerEntry } from './servers.ts';

/** A server under measure. */
export interface Server {
  entry: ServerEntry;
  port: number;
  /** What the process has used so far, in CPU microseconds of all its threads. */
  cpuUs(): number;
  /** The most memory that was resident since `forgetPeak`, in bytes. Undefined where the system does not say. */
  peakBytes(): number | undefined;
  forgetPeak(): void;
  stop(): void;
}

const startMs = 30_000;
// USER_HZ, which is 100 on every Linux that runs Node.
const usPerTick = 10_000;

/** @throws Error where it does not listen in time. */
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
  const child = startPinned(core, entry.args, env, 'ignore', entry.directory);
  const stop = () => void child.kill('SIGKILL');
  try {
    const until = performance.now() + startMs;
    while (!(await isOpen(port))) {
      if (child.exitCode !== null || performance.now() > until)
        throw new Error(`${entry.name} does not listen on port ${port}`);
      await pause(50);
    }
  } catch (error) {
    stop();
    throw error;
  }
  const { pid } = child;
  return {
    entry,
    port,
    cpuUs() {
      // The fields after the name, which may hold anything but a closing bracket.
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * usPerTick;
    },
    peakBytes() {
      const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
      return peak === undefined ? undefined : Number(peak) * 1_024;
    },
    forgetPeak: () => writeFileSync(`/proc/${pid}/clear_refs`, '5'),
    stop,
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
