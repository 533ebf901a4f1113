import { once } from 'node:events';
import { type DestinationStream, destination, type LevelWithSilent, pino, stdTimeFunctions } from 'pino';
import { withTimeout } from '../concurrency/with-timeout.ts';
import type { Log } from './log.ts';

/** A log that writes each line as a JSON object. */
export function createJsonLog(level: LevelWithSilent, stream: DestinationStream): Log {
  return pino(
    {
      level,
      // Without process id and host name, which log collectors add themselves.
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

export type LogOutput = ReturnType<typeof createStandardOutput>;

/**
 * A buffered standard output. A system call per line would cost more than the line itself.
 * Buffered lines are written within 100 ms, and also when an uncaught error ends the process. A slow reader does not
 * block the server: if the buffer exceeds 16 MiB, lines are dropped.
 */
export function createStandardOutput() {
  const stream = destination({
    fd: 1,
    sync: false,
    minLength: 4_096,
    periodicFlush: 100,
    maxLength: 16_777_216,
  });
  // Errors such as a full disk do not stop the server.
  stream.on('error', () => {});
  /** Drops all buffered lines. Without it, pino writes them before the process exits, without a time limit. */
  const abandon = () => stream.destroy();

  return {
    stream: stream as DestinationStream,
    abandon,
    /** Writes all buffered lines within `withinMs` milliseconds. Later lines are dropped. */
    async end(withinMs: number): Promise<void> {
      const closed = once(stream, 'close').catch(() => {});
      stream.write = () => true;
      stream.end();
      await withTimeout(withinMs, closed);
      abandon();
    },
  };
}
