import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The arguments of Node that let a server tell how long its event loop was held. The server needs an IPC channel. */
export const probeArguments = ['--import', join(import.meta.dirname, 'hold-probe.ts')];

/** The longest hold of the server's event loop since the last call, in milliseconds. */
export async function longestHoldMs(server: ChildProcess): Promise<number> {
  server.send('tell');
  return (await once(server, 'message'))[0];
}
