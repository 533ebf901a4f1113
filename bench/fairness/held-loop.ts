import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The longest time without a turn of the event loop. */
export interface Hold {
  /** By the clock, with the time that other processes of the machine took. */
  ms: number;
  /** The CPU time of the thread, within a millisecond. */
  cpuMs: number;
}

/** The arguments of Node that let a server tell how long its event loop was held. The server needs an IPC channel. */
export const probeArguments = ['--import', join(import.meta.dirname, 'hold-probe.ts')];

/** The longest hold of the server's event loop since the last call. */
export async function longestHold(server: ChildProcess): Promise<Hold> {
  server.send('tell');
  return (await once(server, 'message'))[0];
}
