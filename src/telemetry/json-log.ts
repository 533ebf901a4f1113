import { type DestinationStream, destination, type LevelWithSilent, pino } from 'pino';
import type { Log } from './log.ts';

/**
 * Creates a log that writes each line as a JSON object.
 * @param stream receives each line with its line break.
 * @param fields added to every line. By default none.
 */
export function createJsonLog(
  level: LevelWithSilent,
  stream: DestinationStream,
  fields: object | null = null,
): Log {
  return pino(
    {
      level,
      // Without process id and host name, which log collectors add themselves.
      base: fields,
      timestamp: createTimestamps(),
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** Creates the `time` member of each line in ISO 8601. Formatting is slow, so the part up to the second is cached. */
function createTimestamps(): () => string {
  let second = Number.NaN;
  let untilSecond = '';
  return () => {
    const now = Date.now();
    const milliseconds = now % 1_000;
    if (now - milliseconds !== second) {
      second = now - milliseconds;
      untilSecond = `,"time":"${new Date(second).toISOString().slice(0, -4)}`;
    }
    return `${untilSecond}${String(milliseconds).padStart(3, '0')}Z"`;
  };
}

export interface LogOutput {
  stream: DestinationStream;
  /** Writes all buffered lines within `withinMs` milliseconds. Later lines are dropped. */
  end(withinMs: number): Promise<void>;
  /** Closes the destination and drops all buffered lines. */
  abandon(): void;
}

/**
 * Creates a buffered standard output. A system call per line would cost more than the line itself.
 * Buffered lines are written within 100 ms, and also when an uncaught error ends the process. A slow reader does not
 * block the server: if the buffer exceeds 16 MiB, lines are dropped.
 */
export function createStandardOutput(): LogOutput {
  const stream = destination({
    fd: 1,
    sync: false,
    minLength: 4_096,
    periodicFlush: 100,
    maxLength: 16_777_216,
  });
  let isReaderGone = false;
  // Errors such as a full disk do not stop the server.
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    isReaderGone ||= code === 'EPIPE';
  });
  // Without `destroy`, pino writes the buffer before the process exits, without a time limit.
  const abandon = () => stream.destroy();

  return {
    stream,
    abandon,
    async end(withinMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.once('close', resolve);
      stream.once('error', () => resolve());
      const timeout = setTimeout(resolve, isReaderGone ? 0 : withinMs);
      // Lines after `end` are dropped.
      stream.write = () => true;
      stream.end();
      await promise;
      clearTimeout(timeout);
      abandon();
    },
  };
}
