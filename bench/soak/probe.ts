import { setImmediate as turn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';

// Runs in the server's process before the server. Replies to each message with what the process holds after a garbage
// collection.

/** What the process of the server holds. */
export interface Holdings {
  heapMb: number;
  /** Open sockets, to clients and to REST. */
  sockets: number;
  /** Listeners of the `process` object. */
  listeners: number;
}

process.on('message', async () => {
  globalThis.gc?.();
  // The second collection also frees what the first round of the event loop still held.
  await turn();
  globalThis.gc?.();
  const sockets = process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  const heapMb = getHeapStatistics().used_heap_size / 1_048_576;
  process.send?.({ heapMb, sockets, listeners } satisfies Holdings);
});
// The channel must not keep the server running.
process.channel?.unref();
