import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { buildDesk, startDesk } from '../../examples/order-desk/serve.ts';
import { browserMissingNote, hasBrowser, openBrowser } from '../../test/fixtures/browser.ts';
import { freePort } from '../../test/fixtures/free-port.ts';
import { Screen } from './desk/screen.ts';
import type { Try } from './desk/stage.ts';
import { textsOf } from './desk/texts.ts';

const parts = ['board', 'ship-and-print', 'import', 'message', 'trouble'];

/** Each try runs in both. Each screen is also looked at in the other width, and in light and dark. */
const places = [
  ['es', 1280],
  ['en', 320],
] as const;

/**
 * Drives the order desk in Chromium by its keyboard.
 * @param only the names of parts to try; all if empty
 */
export async function tryDesk(say: (line: string) => void, only: readonly string[]): Promise<void> {
  if (!hasBrowser) throw new Error(browserMissingNote);
  buildDesk(say);
  await tryDemo();
  say('✓ desk: npm run demo starts it, and Ctrl-C ends it');
  const chosen = parts.filter((part) => only.length === 0 || only.includes(part));
  for (const part of chosen) {
    const { tries }: { tries: Record<string, Try> } = await import(`./desk/${part}.ts`);
    for (const [language, width] of places) {
      const desk = await startDesk(await freePort(), 0, { LIVE_INTERVAL_MS: '500', STATE_FILE: 'memory' });
      const browser = await openBrowser();
      browser.page.setDefaultTimeout(60_000);
      const t = await textsOf(language);
      await browser.page.addInitScript((to) => {
        if (!localStorage.getItem('language')) localStorage.setItem('language', to);
      }, language);
      const stage = { screen: new Screen(browser.page, t, width), sandbox: desk.sandbox, url: desk.url };
      for (const [name, tryIt] of Object.entries(tries)) {
        const startedAtMs = performance.now();
        await tryIt(stage).catch((error: unknown) => {
          throw new Error(`desk, ${part}, ${language}, ${width} px: ${name}`, { cause: error });
        });
        const seconds = Math.round((performance.now() - startedAtMs) / 1000);
        say(`✓ desk, ${language}, ${width} px: ${name} (${seconds} s)`);
      }
      // A failed response is a line of the console too.
      const complaints = browser.complaints.filter((line) => !/^error: Failed to load resource/.test(line));
      if (complaints.length > 0) throw new Error(`The console of the browser: ${complaints.join('\n')}`);
      await browser.close();
      await desk.close();
    }
  }
}

/** Runs the command of the pages until it says where the desk is. */
async function tryDemo(): Promise<void> {
  const demo = spawn('sh', ['-c', 'exec npm run demo'], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { ...process.env, DESK_PORT: String(await freePort()), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    // The shell leads a new process group, which gets the signal as from a terminal.
    detached: true,
  });
  const ended = once(demo, 'close');
  const url = await new Promise<string>((found, failed) => {
    let output = '';
    demo.stdout.on('data', (chunk) => {
      output += chunk;
      const [, address] = /^Desk +(http:\S+)/m.exec(output) ?? [];
      if (address && output.includes('Ctrl-C')) found(address);
    });
    demo.on('close', () => failed(new Error(`npm run demo ended: ${output}`)));
  });
  assert.match(await (await fetch(url)).text(), /<div id="root">/);
  const graphiql = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
  const [, script] = /src="(graphiql\/app-\w+\.js)"/.exec(await graphiql.text()) ?? [];
  const { status, headers } = await fetch(`${url}/${script}`);
  assert.match(`${status} ${headers.get('content-type')}`, /^200 .*javascript/);
  process.kill(-(demo.pid ?? 0), 'SIGINT');
  await ended;
  await assert.rejects(fetch(url));
}
