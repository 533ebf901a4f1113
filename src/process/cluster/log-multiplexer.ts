import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** Merges the log lines of several streams. `write` gets one or more whole lines. */
export function createLogMultiplexer(write: (lines: string) => void) {
  const streams = new Set<Readable>();

  return {
    add(stream: Readable): void {
      let partialLine = '';
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
      stream.setEncoding('utf8').on('data', (text: string) => {
        const end = text.lastIndexOf('\n') + 1;
        if (end > 0) write(partialLine + text.slice(0, end));
        partialLine = end > 0 ? text.slice(end) : partialLine + text;
      });
    },
    /** Resolves when all streams have closed. */
    async ended(): Promise<void> {
      await Promise.all([...streams].map((stream) => once(stream, 'close')));
    },
  };
}
