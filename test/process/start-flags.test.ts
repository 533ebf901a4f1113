import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waybill } from '../../bench/peers/servers.ts';
import { startMain } from '../fixtures/main-process.ts';

/** The flags with which `npm start` runs Node. */
const flags = waybill.args.filter((argument) => argument.startsWith('--'));
const settings = { UPSTREAM_URL: 'http://127.0.0.1:1', LOG_LEVEL: 'silent' };

/** What V8 tells apart compiled code by, its flags among them. */
function tagWith(...flags: string[]): string {
  return execFileSync(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()'], { encoding: 'utf8' });
}

// Has each process, but no thread of it, say its tag when it ends.
const sayTag = `--import=data:text/javascript,${encodeURIComponent(
  "import { cachedDataVersionTag } from 'node:v8'; import { isMainThread } from 'node:worker_threads'; " +
    "if (isMainThread) process.on('exit', () => console.error(cachedDataVersionTag()));",
)}`;

test('workers inherit the Node flags of the primary process', async () => {
  const main = startMain({ ...settings, WORKERS: '2' }, [...flags, sayTag]);
  await main.banner();
  main.signal('SIGTERM');
  const tag = tagWith(...flags);
  expect(tag).not.toBe(tagWith());
  expect(await main.exit).toEqual({ code: 0, signal: null, errors: tag.repeat(3) });
});

test.each([
  ['1', 'TMPDIR'],
  ['2', 'NODE_COMPILE_CACHE'],
])(
  'the compile cache of one start is used by the next start (WORKERS=%s, %s)',
  async (workers, folder) => {
    const cache = mkdtempSync(join(tmpdir(), 'waybill-compiled-'));
    const kept = { [folder]: cache, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', WORKERS: workers };
    /** What a server says of compiled code from its start to its end, each once. */
    async function start(): Promise<Set<string>> {
      const main = startMain({ ...settings, ...kept }, flags);
      await main.banner();
      main.signal('SIGTERM');
      const { errors } = await main.exit;
      return new Set(
        errors.match(/\bV8 code cache .*\bwas \w+( initialized)?|\bwriting cache\b/g)?.map(withoutFile),
      );
    }
    const withoutFile = (said: string) => said.replace(/^V8 .* was/, 'code was');
    try {
      expect(await start()).toContain('writing cache');
      expect(await start()).toEqual(new Set(['code was accepted']));
    } finally {
      rmSync(cache, { recursive: true });
    }
  },
  60_000,
);
