import { setTimeout as pause } from 'node:timers/promises';
import { markdownTable, megabytes, withRange } from './markdown-table.ts';
import type { Server } from './server-process.ts';
import type { ServerEntry } from './servers.ts';

const restMs = 1_000;

interface Starts {
  entry: ServerEntry;
  startMs: number[];
  restBytes: number[];
}

/** Starts all servers in turns, each alone. Answers a table of how long they take, and what memory they have at rest. */
export async function startUpTable(
  entries: readonly ServerEntry[],
  start: (entry: ServerEntry) => Promise<Server>,
  times: number,
): Promise<string> {
  const seen = entries.map((entry): Starts => ({ entry, startMs: [], restBytes: [] }));
  for (let time = 0; time < times; time++) {
    for (const { entry, startMs, restBytes } of seen) {
      const server = await start(entry);
      await pause(restMs);
      startMs.push(server.startMs);
      restBytes.push(server.residentBytes());
      server.stop();
    }
  }
  return markdownTable(
    ['server', 'first answer after ms', 'MB at rest'],
    seen.map(({ entry, startMs, restBytes }) => [
      entry.name,
      withRange(startMs),
      withRange(restBytes.map(megabytes)),
    ]),
  );
}
