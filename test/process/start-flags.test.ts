import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waybill } from '../../bench/peers/servers.ts';
import { startMain } from '../fixtures/main-process.ts';

/** The flags with which `npm start` runs Node. */
const flags = waybill.args.filter((argument) => argument.startsWith('--'));
const settings = { UPSTREAM_URL: 'http://127.0.0.1:1', LOG_LEVEL: 'silent' };

test.each(['TMPDIR', 'NODE_COMPILE_CACHE'])(
  'the compile cache of one start is used by the next start (%s)',
  async (folder) => {
    const cache = mkdtempSync(join(tmpdir(), 'waybill-compiled-'));
    const kept = { [folder]: cache, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
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
