import { setImmediate as turn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';

// Runs in the server's process before the server. Answers each message with what the process holds once garbage is collected.

/** What the process of the server holds. */
export interface Holdings {
  heapMb: number;
  /** Open ones, to clients and to REST. */
  sockets: number;
  /** Listeners of the process itself. */
  listeners: number;
}

process.on('message', async () => {
  globalThis.gc?.();
  // What is only held until the turn ends is gone by the second time.
  await turn();
  globalThis.gc?.();
  const sockets = process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  const heapMb = getHeapStatistics().used_heap_size / 1_048_576;
  process.send?.({ heapMb, sockets, listeners } satisfies Holdings);
});
// The server ends as if nobody could ask.
process.channel?.unref();
