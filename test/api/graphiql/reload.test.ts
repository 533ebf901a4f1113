import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../../fixtures/browser.ts';
import { type GraphiqlStage, openTab, run, startGraphiql, whenDrawn } from '../../fixtures/graphiql-stage.ts';
import { tabTitles } from '../../fixtures/tab-answers.ts';

const examples = tabTitles();
const stateKey = 'graphiql:tabState';
/** A busy machine stores late. */
const patience = { timeout: 90_000 };

describe.runIf(hasBrowser)('GraphiQL after a reload', () => {
  let stage: GraphiqlStage;
  beforeAll(async () => {
    stage = await startGraphiql();
    // Fewer pixels are drawn sooner. All lines of a response fit.
    await stage.page.setViewportSize({ width: 1440, height: 3000 });
    // The first page of a browser takes longest.
    await stage.page.goto(stage.url.href);
    await whenDrawn(stage);
  }, 120_000);
  afterAll(() => stage.close());

  /** Opens the page with these stored tabs, by default as a browser does that has never been there. */
  async function open(storedTabs?: string): Promise<void> {
    const { page, url } = stage;
    await page.goto(new URL('/health/live', url).href);
    await page.evaluate(
      ([key, text]) => {
        localStorage.clear();
        if (text !== undefined) localStorage.setItem(key, text);
      },
      [stateKey, storedTabs] as const,
    );
    await page.goto(url.href);
    await whenDrawn(stage);
  }

  async function openNew(): Promise<void> {
    await open();
    await whenStored((titles) => titles.length === examples.length);
  }

  /** Waits until GraphiQL has stored tabs with such titles. GraphiQL stores them half a second after a change. */
  async function whenStored(isExpected: (titles: string[]) => boolean): Promise<void> {
    await expect
      .poll(async () => {
        const text = await stage.page.evaluate((key) => localStorage.getItem(key), stateKey);
        const tabs: { title: string }[] = JSON.parse(text ?? '{"tabs":[]}').tabs;
        return isExpected(tabs.map(({ title }) => title));
      }, patience)
      .toBe(true);
  }

  async function reload(): Promise<Shown> {
    await stage.page.reload();
    await whenDrawn(stage);
    return shown();
  }

  interface Shown {
    titles: string[];
    open: string;
    query: string;
  }

  async function shown(): Promise<Shown> {
    const { page } = stage;
    const editor = page.locator('.graphiql-query-editor .view-lines');
    return {
      titles: await page.getByRole('tab').allInnerTexts(),
      open: await page.locator('.graphiql-tab-active').innerText(),
      query: (await editor.innerText()).replaceAll('\u00a0', ' '),
    };
  }

  test('opens the first example tab, also after a second reload, if nothing was edited', async () => {
    await openNew();
    const { titles, open, query } = await reload();
    expect({ titles, open }).toEqual({ titles: examples, open: 'Orders' });
    expect(query).toContain('The newest orders in transit');
    expect(await reload()).toEqual({ titles, open, query });
  });

  test('opens the tab that was open', async () => {
    await openNew();
    for (const title of ['Order', 'Locations', 'Missing']) {
      await openTab(stage, title);
      const { titles, open, query } = await reload();
      expect({ titles, open }).toEqual({ titles: examples, open: title });
      expect(query).toContain(`query ${title}`);
    }
  });

  test('opens the tab that was run', async () => {
    await openNew();
    await run(stage, 'Missing');
    expect(await reload()).toMatchObject({ titles: examples, open: 'Missing' });
  });

  test('opens an example tab in place of an empty tab', async () => {
    await openNew();
    await stage.page.getByRole('button', { name: 'New tab' }).click();
    await whenStored((titles) => titles.length === examples.length + 1);
    const { titles, open, query } = await reload();
    expect({ titles, open }).toEqual({ titles: examples, open: 'Orders' });
    expect(query).toContain('query Orders');
  });

  test('opens the example tabs if the only open tab is empty', async () => {
    const emptyTab = { id: 'a', title: '<untitled>', query: null, variables: null, headers: null };
    await open(
      JSON.stringify({ tabs: [{ ...emptyTab, operationName: null, response: null }], activeTabIndex: 0 }),
    );
    expect(await shown()).toMatchObject({ titles: examples, open: 'Orders' });
  });

  test.each(['{', 'null', '{"tabs":{}}', '{"tabs":[null]}'])(
    'opens the example tabs if the stored tabs are invalid: %s',
    async (text) => {
      await open(text);
      expect(await shown()).toMatchObject({ titles: examples, open: 'Orders' });
    },
  );

  test('keeps an edited tab, and its variables', async () => {
    const { page } = stage;
    await openNew();
    await openTab(stage, 'Locations');
    await page.getByRole('button', { name: 'Variables', exact: true }).click();
    await page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden)').click();
    await page.keyboard.insertText('{"search": "Pitalito"}');
    const kept = () => page.evaluate((key) => localStorage.getItem(key), stateKey);
    await expect.poll(kept, patience).toContain(String.raw`"{\"search\": \"Pitalito\"}"`);
    expect(await reload()).toMatchObject({ titles: examples, open: 'Locations' });
    expect((await run(stage, 'Locations')).calls).toEqual(['GET /v1/locations?pageSize=10&query=Pitalito']);
  });

  test('opens the query in the page address in an additional tab', async () => {
    const { page, url } = stage;
    await openNew();
    const shared = new URL('/graphql', url);
    shared.searchParams.set('query', 'query Shared { organization { id } }');
    await page.goto(shared.href);
    await whenDrawn(stage);
    expect(await page.locator('.graphiql-tab-active').innerText()).toBe('Shared');
    await whenStored((titles) => titles.includes('Shared'));
    expect(await reload()).toMatchObject({ titles: [...examples, 'Shared'], open: 'Shared' });
  });
});
