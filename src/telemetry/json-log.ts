import { type DestinationStream, destination, type LevelWithSilent, pino } from 'pino';
import type { Log } from './log.ts';

/**
 * A log that writes each line as a JSON object.
 * @param stream where the lines go, each with its line break.
 * @param fields what every line says; nothing when left out.
 */
export function createJsonLog(
  level: LevelWithSilent,
  stream: DestinationStream,
  fields: object | null = null,
): Log {
  return pino(
    {
      level,
      // Process and machine are known to whoever collects the lines.
      base: fields,
      timestamp: createTimestamps(),
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

/** The time as ISO 8601 has it, as a piece of a line. Making it anew for each line would cost as much as all else in it. */
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

/** Where lines go, and its end. */
export interface LogOutput {
  stream: DestinationStream;
  /** Writes what waits, for so many milliseconds at most. From then on nothing is written. */
  end(withinMs: number): Promise<void>;
  /** Writes nothing any more, not even what waits. */
  abandon(): void;
}

/**
 * The standard output, written to in pieces of many lines, as a system call for each line costs more than the line does.
 * What waits is written at the latest after 100 ms, and when the process ends by an error of its own. A reader that is slow
 * holds up nobody: beyond 16 MiB, lines are dropped.
 */
export function createStandardOutput(): LogOutput {
  const stream = destination({
    fd: 1,
    sync: false,
    minLength: 4_096,
    periodicFlush: 100,
    maxLength: 16_777_216,
  });
  let isGone = false;
  // A full disk is no reason to answer nobody any more.
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    isGone ||= code === 'EPIPE';
  });
  // Without this, the library would write what waits before the process exits, for as long as that takes.
  const abandon = () => stream.destroy();

  return {
    stream,
    abandon,
    async end(withinMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.once('close', resolve);
      stream.once('error', () => resolve());
      const late = setTimeout(resolve, isGone ? 0 : withinMs);
      // Whoever still has something to tell comes too late.
      stream.write = () => true;
      stream.end();
      await promise;
      clearTimeout(late);
      abandon();
    },
  };
}
