import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** Merges the log lines of several streams and of its own `write`. Lines are never split. */
export interface LogMultiplexer {
  /** Adds one whole line with its line break. */
  write(line: string): void;
  /** Adds the standard output of a worker. */
  add(stream: Readable): void;
  /** Starts to forward lines. Until then they are buffered. */
  start(): void;
  /** Resolves when all streams have closed. */
  ended(): Promise<void>;
}

/** @param write called with one or more whole lines. */
export function createLogMultiplexer(write: (lines: string) => void): LogMultiplexer {
  const streams = new Set<Readable>();
  const buffered: string[] = [];
  let isStarted = false;

  function forward(stream: Readable): void {
    let partialLine = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      const end = text.lastIndexOf('\n') + 1;
      if (end > 0) write(partialLine + text.slice(0, end));
      partialLine = end > 0 ? text.slice(end) : partialLine + text;
    });
  }

  return {
    write: (line) => (isStarted ? write(line) : void buffered.push(line)),
    add(stream) {
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
      if (isStarted) forward(stream);
    },
    start() {
      isStarted = true;
      for (const line of buffered.splice(0)) write(line);
      for (const stream of streams) forward(stream);
    },
    async ended() {
      await Promise.all([...streams].map((stream) => once(stream, 'close')));
    },
  };
}
