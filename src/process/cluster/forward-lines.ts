import type { Readable } from 'node:stream';

/** Passes the log of a worker on. `write` gets one or more whole lines, so that the lines of workers do not mix. */
export function forwardLines(workerLog: Readable, write: (lines: string) => void): void {
  let partialLine = '';
  workerLog.setEncoding('utf8').on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) write(partialLine + text.slice(0, end));
    partialLine = end > 0 ? text.slice(end) : partialLine + text;
  });
}
