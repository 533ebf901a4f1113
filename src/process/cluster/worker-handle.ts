import cluster from 'node:cluster';
import type { Readable } from 'node:stream';
import { connect, type RpcPeer } from './rpc.ts';
import type { PrimaryMethods, WorkerMethods } from './worker-protocol.ts';

/** A worker process, as the primary process sees it. */
export interface WorkerHandle {
  /** A number from 1, never reused. */
  readonly id: number;
  readonly pid: number | undefined;
  readonly rpc: RpcPeer<WorkerMethods>;
  /** Its standard output, which is its log. */
  readonly stdout: Readable;
  /** Resolves when the process has exited. */
  readonly exited: Promise<ExitStatus>;
  /** Sends SIGKILL. */
  kill(): void;
}

/** How a process has exited. */
export interface ExitStatus {
  /** Null if a signal ended the process. */
  code: number | null;
  signal: string | null;
}

/**
 * Starts a worker process. It serves nothing until `rpc.call('start', …)`.
 * @param primary the methods that the worker may call.
 */
export function startWorker(primary: PrimaryMethods): WorkerHandle {
  const worker = cluster.fork();
  const rpc = connect<WorkerMethods, PrimaryMethods>(
    {
      // An error of `send` is ignored: if the worker has exited, the event `exit` reports that.
      send: (message) => worker.process.connected && worker.process.send(message as object, () => {}),
      onMessage: (listener) => worker.on('message', listener),
    },
    primary,
  );
  const { promise: exited, resolve } = Promise.withResolvers<ExitStatus>();
  worker.once('exit', (code: number | null, signal: string | null) => {
    rpc.disconnect(`A worker ended by ${signal ?? `itself, with ${code}`}, while it started.`);
    resolve({ code, signal });
  });
  // The process could not be created.
  worker.once('error', (error) => {
    rpc.disconnect(`A worker could not start: ${error.message}`);
    resolve({ code: null, signal: null });
  });
  const { stdout, pid } = worker.process;
  if (stdout === null) throw new TypeError('A worker writes to nowhere');
  return { id: worker.id, pid, rpc, stdout, exited, kill: () => worker.process.kill('SIGKILL') };
}
