import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { buildDesk, startDesk } from '../../examples/order-desk/serve.ts';
import { browserMissingNote, hasBrowser, openBrowser } from '../../test/fixtures/browser.ts';
import { Screen } from './desk/screen.ts';
import type { Try } from './desk/stage.ts';
import { textsOf } from './desk/texts.ts';

const parts = ['board', 'ship-and-print', 'import', 'message', 'trouble'];

/** In these, each screen is also looked at in the other width, and in light and dark. */
const places = [
  ['es', 1280],
  ['en', 320],
  ['es', 320],
] as const;

/**
 * Drives the order desk in Chromium by its keyboard.
 * @param only the names of parts to try; all if empty
 */
export async function tryDesk(say: (line: string) => void, only: readonly string[]): Promise<void> {
  if (!hasBrowser) throw new Error(browserMissingNote);
  buildDesk(say);
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an AddressInfo: no pipe name and no null.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
