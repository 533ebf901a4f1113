import cluster from 'node:cluster';
import type { Readable } from 'node:stream';
import { connect, type RpcPeer } from './rpc.ts';
import type { Primary, Worker } from './start-options.ts';

/** A worker, as the primary process has it. */
export interface WorkerHandle {
  /** Counted from 1 over all that there have been. */
  readonly id: number;
  readonly pid: number | undefined;
  readonly calls: RpcPeer<Worker>;
  /** What it writes to its standard output. */
  readonly lines: Readable;
  /** How it has ended, once it has. */
  readonly ended: Promise<End>;
  kill(): void;
}

export interface End {
  /** Null where a signal has ended it. */
  code: number | null;
  signal: string | null;
}

/** Starts the process of a worker, which then waits for its orders. `primary`: what it may ask. */
export function startWorker(primary: Primary): WorkerHandle {
  const worker = cluster.fork();
  const calls = connect<Worker, Primary>(
    {
      // Nobody is told that the worker has gone: its end says so.
      send: (message) => worker.process.connected && worker.process.send(message as object, () => {}),
      onMessage: (take) => worker.on('message', take),
    },
    primary,
  );
  const { promise: ended, resolve } = Promise.withResolvers<End>();
  worker.once('exit', (code: number | null, signal: string | null) => {
    calls.hangUp(`A worker ended by ${signal ?? `itself, with ${code}`}, while it started.`);
    resolve({ code, signal });
  });
  // Its process could not be had at all.
  worker.once('error', (error) => {
    calls.hangUp(`A worker could not start: ${error.message}`);
    resolve({ code: null, signal: null });
  });
  const { stdout: lines, pid } = worker.process;
  if (lines === null) throw new TypeError('A worker writes to nowhere');
  return { id: worker.id, pid, calls, lines, ended, kill: () => worker.process.kill('SIGKILL') };
}
