import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** Calls `write` with one or more whole lines of the stream. @returns a promise that resolves when the stream has closed. */
export function forwardLines(stream: Readable, write: (lines: string) => void): Promise<unknown> {
  let partialLine = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) write(partialLine + text.slice(0, end));
    partialLine = end > 0 ? text.slice(end) : partialLine + text;
  });
  return once(stream, 'close');
}
