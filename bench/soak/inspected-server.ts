import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { asStarted } from '../as-started.ts';
import { openInspector } from './inspector.ts';

/** What the process of the server holds. */
export interface Holdings {
  heapMb: number;
  /** Sockets, servers, timers and so on, by kind. */
  resources: Record<string, number>;
  /** Listeners of the process itself. */
  listeners: number;
}

/** What a process has taken since it began. */
export interface Taken {
  /** Processor time, in microseconds. */
  cpuUs: number;
  /** How often the whole heap was collected. */
  fullCollections: number;
}

/** Waybill as it is, in a process of its own, which is looked into from outside. */
export interface InspectedServer {
  url: URL;
  /** After the garbage was collected. */
  holdings(): Promise<Holdings>;
  /** What it has taken so far. */
  taken(): Promise<Taken>;
  /** Lines that it wrote where errors go. */
  errors(): string[];
  /** How many lines of its log say a word that none may hold. */
  leaks(): number;
  /** How many lines its log has. */
  lines(): number;
  /** The exit code. */
  close(): Promise<number | null>;
}

const heldInProcess = `JSON.stringify({
  resources: process.getActiveResourcesInfo(),
  listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
})`;

// Kind 4 is a collection of the whole heap.
const countCollections = `{
  const { PerformanceObserver } = process.getBuiltinModule('node:perf_hooks');
  globalThis.fullCollections = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === 4) globalThis.fullCollections += 1;
  }).observe({ entryTypes: ['gc'] });
}`;

const takenByProcess = `JSON.stringify({
  cpuUs: process.cpuUsage().user + process.cpuUsage().system,
  fullCollections: globalThis.fullCollections,
})`;

/** @param forbidden a word that no line of the log may hold. */
export async function startInspectedServer(
  environment: Record<string, string>,
  forbidden: string,
): Promise<InspectedServer> {
  const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', ...asStarted], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'close');
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  let lines = 0;
  let leaks = 0;
  let banner = '';
  child.stdout.on('data', (chunk) => {
    const text = String(chunk);
    if (!banner.includes('Try')) banner += text;
    lines += text.split('\n').length - 1;
    // The piece of a line at the end of one chunk and its rest at the start of the next are not looked at together.
    if (text.includes(forbidden)) leaks += 1;
  });
  while (!banner.includes('Try') || !errors.includes('ws://')) {
    if (child.exitCode !== null) throw new Error(`the server has ended: ${errors}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const inspector = await openInspector(/ws:\/\/\S+/.exec(errors)?.[0] ?? '');
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result } = await inspector.send<{ result: { value: Value } }>('Runtime.evaluate', { expression });
    return result.value;
  };
  await evaluate(countCollections);
  return {
    url: new URL(/http:\/\/[^/\s]+/.exec(banner)?.[0] ?? ''),
    async holdings() {
      await inspector.send('HeapProfiler.collectGarbage');
      await inspector.send('HeapProfiler.collectGarbage');
      const { usedSize } = await inspector.send<{ usedSize: number }>('Runtime.getHeapUsage');
      const held: { resources: string[]; listeners: number } = JSON.parse(
        await evaluate<string>(heldInProcess),
      );
      const resources: Record<string, number> = {};
      for (const kind of held.resources) resources[kind] = (resources[kind] ?? 0) + 1;
      return { heapMb: usedSize / 1_048_576, resources, listeners: held.listeners };
    },
    taken: async () => JSON.parse(await evaluate<string>(takenByProcess)),
    errors: () =>
      errors.split('\n').filter((line) => line !== '' && !/debugger|ws:\/\/|nodejs\.org/i.test(line)),
    leaks: () => leaks,
    lines: () => lines,
    async close() {
      inspector.close();
      child.kill('SIGTERM');
      const [code] = await exit;
      return code;
    },
  };
}
