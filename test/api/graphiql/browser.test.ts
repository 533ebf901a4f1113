import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserMissingNote, hasBrowser } from '../../fixtures/browser.ts';
import { type GraphiqlStage, openTab, run, runUnsent, startGraphiql } from '../../fixtures/graphiql-stage.ts';
import { tabAnswers, tabTitles } from '../../fixtures/tab-answers.ts';

test.skipIf(hasBrowser)('the tests of GraphiQL need a browser', ({ skip }) => {
  process.stderr.write(`${browserMissingNote}\n`);
  skip(browserMissingNote);
});

describe.runIf(hasBrowser)('GraphiQL in a browser', () => {
  let stage: GraphiqlStage;
  beforeAll(async () => {
    stage = await startGraphiql();
    await stage.page.goto(stage.url.href);
  });
  afterAll(() => stage.close());

  test('opens with the example tabs and the access token of the sandbox', async () => {
    const { page, url } = stage;
    await page.getByRole('tab').first().waitFor();
    expect(new URL(page.url()).href).toBe(new URL('/graphql', url).href);
    const titles = tabTitles();
    expect(await page.getByRole('tab').allInnerTexts()).toEqual(titles);
    expect(await page.getByLabel('Access token').inputValue()).toBe('sandbox-cafe-andino');
  });

  test.each(tabAnswers(expect.any(String)))(
    'shows the response of the tab $title',
    async ({ title, answer, calls }) => {
      expect(await run(stage, title)).toEqual({ answer, calls });
    },
  );

  test('shows the link of a label document, which opens as a PDF', async () => {
    const { answer } = await run(stage, 'PrintLabels');
    const path = /"url":"[^"]*?(\/documents\/[\w-]+\.pdf)"/.exec(JSON.stringify(answer))?.[1] ?? '';
    // A context of its own: the viewer of Chromium is an extension, whose requests are not those of GraphiQL.
    const context = await stage.page.context().browser()?.newContext();
    if (context === undefined) throw new Error('The browser has no contexts');
    const page = await context.newPage();
    const response = await page.goto(new URL(path, stage.url).href);
    expect([response?.status(), response?.headers()['content-type']]).toEqual([200, 'application/pdf']);
    await context.close();
  });

  test('shows each new status of a watched shipment until the user stops the query', async () => {
    const { page, sandbox } = stage;
    await openTab(stage, 'WatchLabel');
    await page.getByRole('button', { name: /^Execute query/ }).click();
    const shown = () => page.locator('.graphiql-response').innerText();
    await expect.poll(shown, { timeout: 90_000 }).toContain('GENERATING_LABEL');
    sandbox.clock.advance(8_000);
    await expect.poll(shown, { timeout: 90_000 }).toContain('LABEL_GENERATED');
    await page.getByRole('button', { name: /^Stop query/ }).click();
    sandbox.requests.clear();
    // Two intervals without a look.
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    expect(sandbox.requests.lines()).toEqual([]);
  });

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
        "The merchant's orders as the REST service sorts them, usually newest first. Costs GET /v1/orders. A filter by time or by shipment costs up to 20 pages of REST lists.",
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
  let stage: GraphiqlStage;
  const questions: string[] = [];
  let isAgreed = false;
  beforeAll(async () => {
    stage = await startGraphiql('api.example.com');
    stage.page.on('dialog', async (dialog) => {
      questions.push(dialog.message());
      await (isAgreed ? dialog.accept() : dialog.dismiss());
    });
    await stage.page.goto(stage.url.href);
  });
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
