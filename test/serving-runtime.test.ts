import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startMain } from './fixtures/main-process.ts';

const settings = { UPSTREAM_URL: 'http://127.0.0.1:1', LOG_LEVEL: 'silent' };

/** What V8 tells apart compiled code by, its flags among them. */
function tagWith(...flags: string[]): string {
  return execFileSync(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()'], { encoding: 'utf8' });
}

// Has each process say its tag when it ends.
const sayTag = `--import=data:text/javascript,${encodeURIComponent(
  "import { cachedDataVersionTag } from 'node:v8'; process.on('exit', () => console.error(cachedDataVersionTag()));",
)}`;

describe('a process that serves makes nothing old from the start, and lets its heap grow', () => {
  // As much room as on a usual machine, on a small one too.
  const roomy = '--max-old-space-size=2048';
  const usual = tagWith(roomy);
  const tuned = tagWith(roomy, '--no-allocation-site-pretenuring', '--heap-growing-percent=150');

  test('the only one', async () => {
    const main = startMain(settings, [roomy, sayTag]);
    await main.banner();
    main.signal('SIGTERM');
    expect(await main.exit).toEqual({ code: 0, signal: null, errors: tuned });
    expect(tuned).not.toBe(usual);
  });

  test('the only one, whose heap has no room to grow', async () => {
    const small = '--max-old-space-size=512';
    const main = startMain(settings, [small, sayTag]);
    await main.banner();
    main.signal('SIGTERM');
    const errors = tagWith('--no-allocation-site-pretenuring', small);
    expect(await main.exit).toEqual({ code: 0, signal: null, errors });
  });

  test('each worker, and not the process that leads them', async () => {
    const main = startMain({ ...settings, WORKERS: '2' }, [roomy, sayTag]);
    await main.banner();
    main.signal('SIGTERM');
    expect(await main.exit).toEqual({ code: 0, signal: null, errors: tuned + tuned + usual });
  });
});

test.each(['1', '2'])(
  'what was compiled for a start serves the next one, with %s workers',
  async (workers) => {
    const cache = mkdtempSync(join(tmpdir(), 'waybill-compiled-'));
    const kept = { NODE_COMPILE_CACHE: cache, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', WORKERS: workers };
    /** What a server says of compiled code from its start to its end, each once. */
    async function start(): Promise<Set<string>> {
      const main = startMain({ ...settings, ...kept });
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
