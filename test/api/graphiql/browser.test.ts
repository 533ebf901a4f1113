import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { createRestApi } from '../../../src/rest/api.ts';
import { createRestClient } from '../../../src/rest/client/client.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { createApp } from '../../../src/server/app.ts';
import { listen } from '../../fixtures/listen.ts';
import { tabAnswers } from '../../fixtures/tab-answers.ts';
import { startOfTime } from '../../harness.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** GraphiQL in a browser that has never been there, before a server and a sandbox on free ports. */
interface Stage {
  page: Page;
  sandbox: Sandbox;
  url: URL;
  /** The hosts that the browser asked. */
  hosts: Set<string>;
  /** What the browser's console showed, and the exceptions that nobody caught. */
  complaints: string[];
  close(): Promise<void>;
}

async function setStage(): Promise<Stage> {
  const sandbox = await startSandbox({ now: startOfTime });
  const config = readConfig({ REFERENCE_DATA_MS: '0' });
  const client = createRestClient({ baseUrl: new URL(sandbox.url), ...config.rest });
  const app = createApp({
    ...config.app,
    api: createRestApi(client, config.parameterNames),
    publicUrl: () => new URL('http://waybill.test'),
    graphiqlBearer: sandbox.tokens.first,
    report: (error) => {
      throw error;
    },
  });
  const { url, close: closeListener } = await listen(app, '127.0.0.1', 0);

  const profile = await mkdtemp(join(tmpdir(), 'waybill-browser-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    // High enough for the response pane to show every line: it draws only those in view.
    viewport: { width: 1440, height: 6000 },
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  const page = await browser.newPage();
  const hosts = new Set<string>();
  const complaints: string[] = [];
  browser.on('request', (request) => hosts.add(new URL(request.url()).host));
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(String(error)));

  return {
    page,
    sandbox,
    url,
    hosts,
    complaints,
    async close() {
      await browser.close();
      await rm(profile, { recursive: true, force: true });
      await closeListener();
      await client.close();
      await sandbox.close();
    },
  };
}

/** The JSON in a pane, with no-break spaces as blanks: the editor draws all blanks as such. It also breaks long lines. */
async function jsonIn(pane: Locator): Promise<unknown> {
  const lines = await pane.locator('.view-line').evaluateAll((elements) =>
    elements
      // The editor draws lines in any order.
      .map((element) => ({ top: Number.parseInt(element.style.top, 10), text: element.textContent ?? '' }))
      .sort((one, other) => one.top - other.top)
      .map(({ text }) => text),
  );
  return JSON.parse(lines.map((line) => line.replaceAll('\u00a0', ' ').trimStart()).join(''));
}

/** Opens the tab with this title, runs it, and reads the answer and, sorted, the REST calls that it cost. */
async function run({ page, sandbox }: Stage, title: string): Promise<{ answer: unknown; calls: string[] }> {
  await page.getByRole('tablist').getByRole('button', { name: title, exact: true }).click();
  // A tab's query comes into the address a moment after the click, when GraphiQL has read it; the first tab's is not
  // there at first. Before that, the operation of the tab before would be asked for.
  const operation = new RegExp(`(query|mutation) ${title}\\b`);
  await page.waitForURL((url) => operation.test(url.searchParams.get('query') ?? 'query Orders'));
  sandbox.requests.clear();
  const answered = page.waitForResponse(
    (response) => response.request().postDataJSON()?.operationName === title,
  );
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await (await answered).finished();
  const response = page.locator('.graphiql-response');
  await response.locator('.graphiql-spinner').waitFor({ state: 'detached' });
  // The editor draws a moment later.
  const answer = await vi.waitFor(() => jsonIn(response), { timeout: 5000 });
  return { answer, calls: sandbox.requests.lines().sort() };
}

const hasBrowser = existsSync(executablePath);
test.skipIf(hasBrowser)('GraphiQL without a browser', ({ skip }) => {
  const note = `GraphiQL was not tried: there is no Chromium at ${executablePath}. Name one in CHROMIUM.`;
  process.stderr.write(`${note}\n`);
  skip(note);
});

describe.runIf(hasBrowser)('GraphiQL in a browser', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
    await stage.page.goto(stage.url.href);
  }, 60_000);
  afterAll(() => stage.close());

  test('opens with the tabs of the story and the bearer of the sandbox', async () => {
    const { page, url } = stage;
    await page.getByRole('tab').first().waitFor();
    expect(new URL(page.url()).href).toBe(new URL('/graphql', url).href);
    const titles = tabAnswers(null).map(({ title }) => title);
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(titles);
    expect(await jsonIn(page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden)'))).toEqual({
      Authorization: 'Bearer sandbox-cafe-andino',
    });
  });

  test.each(tabAnswers(expect.any(String)))('answers $title', async ({ title, answer, calls }) => {
    expect(await run(stage, title)).toEqual({ answer, calls });
  });

  test('documents the schema', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const explorer = page.locator('.graphiql-plugin');
    await explorer.getByRole('link', { name: 'Query' }).click();
    await explorer
      .getByText("Everything that can be read: the merchant's orders, shipments and messages.")
      .waitFor();
    await explorer.getByText('Orders, newest first. Costs GET /v1/orders.').waitFor();
  });

  test('keeps the tabs over a reload, and the access token nowhere', async () => {
    const { page } = stage;
    const titles = await page.getByRole('tab').allInnerTexts();
    // GraphiQL writes half a second after the last change.
    const kept = () => page.evaluate(() => Object.values({ ...localStorage, ...sessionStorage }).join('\n'));
    await expect.poll(kept).toContain('query Missing');
    expect(await kept()).not.toContain('sandbox-cafe-andino');
    await page.reload();
    await page.getByRole('tab').first().waitFor();
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(titles);
    expect(await run(stage, 'Missing')).toMatchObject({ answer: { data: { missing: null } } });
  });

  test('asked no other host and complained of nothing', () => {
    expect([...stage.hosts]).toEqual([stage.url.host]);
    expect(stage.complaints).toEqual([]);
  });
});
