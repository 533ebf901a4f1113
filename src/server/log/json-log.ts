import { type DestinationStream, destination, pino } from 'pino';
import type { Log, LogLevel } from './log.ts';

/**
 * A log that writes each line as a JSON object, by default to the standard output.
 * @param stream where the lines go instead, each with its line break.
 */
export function createJsonLog(level: LogLevel, stream: DestinationStream = standardOutput()): Log {
  return pino(
    {
      level,
      // Process and machine are known to whoever collects the lines.
      base: null,
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

/**
 * The standard output, written to in pieces of many lines, as a system call for each line costs more than the line does.
 * What waits is written at the latest after 100 ms, and when the process ends by itself or by an error of its own. A
 * reader that is slow holds up nobody: beyond 16 MiB, lines are dropped.
 */
function standardOutput(): DestinationStream {
  const output = destination({
    fd: 1,
    sync: false,
    minLength: 4_096,
    periodicFlush: 100,
    maxLength: 16_777_216,
  });
  // A full disk is no reason to answer nobody any more.
  output.on('error', () => {});
  return output;
}
