import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** Puts the lines of several streams together, each whole, and those that are written to it itself. */
export interface LogMultiplexer {
  /** Takes a whole line, with its line break. */
  write(line: string): void;
  add(stream: Readable): void;
  /** From now on lines are passed on; until then they wait. */
  flow(): void;
  /** Resolves when all of the streams have ended. */
  ended(): Promise<void>;
}

/** `write` is given one or more whole lines at a time. */
export function createLogMultiplexer(write: (lines: string) => void): LogMultiplexer {
  const streams = new Set<Readable>();
  const waiting: string[] = [];
  let isFlowing = false;

  function pass(stream: Readable): void {
    let begun = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      const end = text.lastIndexOf('\n') + 1;
      if (end > 0) write(begun + text.slice(0, end));
      begun = end > 0 ? text.slice(end) : begun + text;
    });
  }

  return {
    write: (line) => (isFlowing ? write(line) : void waiting.push(line)),
    add(stream) {
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
      if (isFlowing) pass(stream);
    },
    flow() {
      isFlowing = true;
      for (const line of waiting.splice(0)) write(line);
      for (const stream of streams) pass(stream);
    },
    async ended() {
      await Promise.all([...streams].map((stream) => once(stream, 'close')));
    },
  };
}
