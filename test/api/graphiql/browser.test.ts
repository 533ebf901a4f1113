import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { type Browser, browserMissingNote, hasBrowser, openBrowser } from '../../fixtures/browser.ts';
import { connectApp } from '../../fixtures/connect-app.ts';
import { listen } from '../../fixtures/listen.ts';
import { tabAnswers } from '../../fixtures/tab-answers.ts';
import { startOfTime } from '../../harness.ts';

/** GraphiQL in a browser that has never been there, before a server and a sandbox on free ports. */
interface Stage extends Browser {
  sandbox: Sandbox;
  url: URL;
}

/** @param liveHost makes the page one before a live service of this name. */
async function setStage(liveHost?: string): Promise<Stage> {
  const sandbox = await startSandbox({ now: startOfTime });
  const config = readConfig({ REFERENCE_DATA_MS: '0' });
  const { app, close } = await connectApp(new URL(sandbox.url), config, {
    graphiqlBearer: sandbox.tokens.first,
    graphiqlLiveHost: liveHost,
    report: (error) => {
      throw error;
    },
  });
  const { url, close: closeListener } = await listen(app, '127.0.0.1', 0);

  const browser = await openBrowser();
  return {
    ...browser,
    sandbox,
    url,
    async close() {
      await browser.close();
      await closeListener();
      await close();
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

/** Opens the tab with this title. */
async function openTab({ page }: Stage, title: string): Promise<void> {
  await page.getByRole('tablist').getByRole('button', { name: title, exact: true }).click();
  // A tab's query comes into the address a moment after the click, when GraphiQL has read it; the first tab's is not
  // there at first. Before that, the operation of the tab before would be asked for.
  const operation = new RegExp(`(query|mutation) ${title}\\b`);
  await page.waitForURL((url) => operation.test(url.searchParams.get('query') ?? 'query Orders'));
}

/** Runs the tab with this title, and reads the answer and, sorted, the REST calls that it cost. */
async function run(stage: Stage, title: string): Promise<{ answer: unknown; calls: string[] }> {
  const { page, sandbox } = stage;
  await openTab(stage, title);
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

/** Like `run`, for an operation that the page does not send. */
async function runUnsent(stage: Stage, title: string): Promise<{ answer: unknown; calls: string[] }> {
  const { page, sandbox } = stage;
  await openTab(stage, title);
  sandbox.requests.clear();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  const answer = await vi.waitFor(() => jsonIn(page.locator('.graphiql-response')), { timeout: 5000 });
  return { answer, calls: sandbox.requests.lines() };
}

test.skipIf(hasBrowser)('the tests of GraphiQL need a browser', ({ skip }) => {
  process.stderr.write(`${browserMissingNote}\n`);
  skip(browserMissingNote);
});

describe.runIf(hasBrowser)('GraphiQL in a browser', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
    await stage.page.goto(stage.url.href);
  }, 60_000);
  afterAll(() => stage.close());

  test('opens with the example tabs and the access token of the sandbox', async () => {
    const { page, url } = stage;
    await page.getByRole('tab').first().waitFor();
    expect(new URL(page.url()).href).toBe(new URL('/graphql', url).href);
    const titles = tabAnswers(null).map(({ title }) => title);
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(titles);
    expect(await jsonIn(page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden)'))).toEqual({
      Authorization: 'Bearer sandbox-cafe-andino',
    });
  });

  test.each(tabAnswers(expect.any(String)))(
    'shows the response of the tab $title',
    async ({ title, answer, calls }) => {
      expect(await run(stage, title)).toEqual({ answer, calls });
    },
  );

  test('shows no warning about a live service', async () => {
    // Playwright dismisses dialogs, so a mutation that asked would not have been sent.
    expect(await stage.page.title()).toBe('Waybill');
    expect(await stage.page.locator('.live-service-band').count()).toBe(0);
  });

  test('shows the documentation of the schema', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const explorer = page.locator('.graphiql-plugin');
    await explorer.getByRole('link', { name: 'Query' }).click();
    await explorer
      .getByText("The operations that read the merchant's orders, quotes, shipments and messages.")
      .waitFor();
    await explorer
      .getByText(
        "The merchant's orders as the REST service sorts them, usually newest first. Costs GET /v1/orders. A filter by createdSince or createdUntil costs up to 20 pages of this list.",
      )
      .waitFor();
  });

  test('keeps the tabs after a reload, but does not store the access token', async () => {
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

  test('causes no request to another host and no error', () => {
    expect([...stage.hosts]).toEqual([stage.url.host]);
    expect(stage.complaints).toEqual([]);
  });
});

describe.runIf(hasBrowser)('GraphiQL with a live service', () => {
  let stage: Stage;
  const questions: string[] = [];
  let isAgreed = false;
  beforeAll(async () => {
    stage = await setStage('api.example.com');
    stage.page.on('dialog', async (dialog) => {
      questions.push(dialog.message());
      await (isAgreed ? dialog.accept() : dialog.dismiss());
    });
    await stage.page.goto(stage.url.href);
  }, 60_000);
  afterAll(() => stage.close());

  test('shows the host of the live service in a band and in the page title', async () => {
    const { page } = stage;
    await page.getByText('Live service: api.example.com', { exact: true }).waitFor();
    expect(await page.title()).toBe('Live service: api.example.com – Waybill');
    // The band takes its height from GraphiQL, so that the page does not scroll.
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0);
  });

  const notSent = { errors: [{ message: 'The mutation was not sent.' }] };

  test('asks for confirmation only before mutations', async () => {
    expect(await runUnsent(stage, 'CreateOrder')).toEqual({ answer: notSent, calls: [] });
    expect(await run(stage, 'Missing')).toMatchObject({ answer: { data: { missing: null } } });
    expect(questions).toEqual([
      'api.example.com is a live service. Send this mutation, which changes its data?',
    ]);

    isAgreed = true;
    expect(await run(stage, 'CreateOrder')).toMatchObject({
      calls: ['GET /v1/organizations/mine', 'POST /v1/orders'],
    });
    expect(await run(stage, 'ShipOrder')).toMatchObject({ answer: { data: {} } });
    expect(questions).toHaveLength(3);
    isAgreed = false;
    expect(await runUnsent(stage, 'CreateOrder')).toEqual({ answer: notSent, calls: [] });
    expect(questions).toHaveLength(4);
  });

  /** Opens GraphiQL with this document in a tab of its own. */
  async function openWith(query: string): Promise<void> {
    const address = new URL('/graphql', stage.url);
    address.searchParams.set('query', query);
    await stage.page.goto(address.href);
    questions.length = 0;
  }

  test.each([
    [
      'First',
      `fragment Done on UpdateOrderSuccess { order { id } }
      mutation First { updateOrder(input: { id: "ca2481", notes: "a } b" }) { ...Done } }`,
    ],
    [
      'Second',
      `fragment Done on UpdateOrderSuccess { order { id } }
      # {
      mutation Second($id: ID! = "{") { updateOrder(input: { id: $id, notes: null }) { ...Done } }`,
    ],
  ])('asks for confirmation if a fragment stands before the mutation: %s', async (name, query) => {
    await openWith(query);
    expect(await runUnsent(stage, name)).toEqual({ answer: notSent, calls: [] });
    expect(questions).toHaveLength(1);
  });

  test('causes no request to another host and no error', () => {
    expect([...stage.hosts]).toEqual([stage.url.host]);
    expect(stage.complaints).toEqual([]);
  });
});
