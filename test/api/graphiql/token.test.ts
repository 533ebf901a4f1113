import type { Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasBrowser } from '../../fixtures/browser.ts';
import {
  type GraphiqlStage,
  openTab,
  run,
  runUnsent,
  startGraphiql,
  whenDrawn,
} from '../../fixtures/graphiql-stage.ts';

describe.runIf(hasBrowser)('the access token of GraphiQL', () => {
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

  beforeEach(async () => {
    await stage.page.goto(stage.url.href);
    await whenDrawn(stage);
  });

  const field = () => stage.page.getByLabel('Access token');

  /** Runs the open tab, and reads the header `authorization` of the request whose document has this text. */
  async function sentToken(text: string): Promise<string | undefined> {
    const { page } = stage;
    const isSent = (request: Request) => !!request.postDataJSON()?.query?.includes(text);
    let request: Request | null = null;
    // The editor passes on its text some time after the keys. Until then, the button runs an empty document.
    while (request === null) {
      const sent = page.waitForRequest(isSent, { timeout: 2_000 }).catch(() => null);
      await page.getByRole('button', { name: /^Execute query/ }).click();
      request = await sent;
    }
    return request.headers().authorization;
  }

  async function openNewTab(): Promise<void> {
    const { page } = stage;
    await page.getByRole('button', { name: 'New tab' }).click();
    await page.locator('.graphiql-query-editor .monaco-editor').click();
    await page.keyboard.insertText('{ __typename }');
  }

  test('is sent by all tabs, including a new tab', async () => {
    await field().fill('sandbox-sur-textil');
    for (const title of ['Order', 'Locations']) {
      await openTab(stage, title);
      expect(await sentToken(`query ${title}`)).toBe('Bearer sandbox-sur-textil');
    }
    await openNewTab();
    expect(await sentToken('__typename}')).toBe('Bearer sandbox-sur-textil');
    await field().fill('sandbox-cafe-andino');
    expect(await run(stage, 'Missing')).toMatchObject({
      answer: { data: { organization: { balance: { formatted: '-$ 184.235.000' } } } },
    });
  });

  test('may be pasted with the word Bearer', async () => {
    await field().fill(' Bearer sandbox-sur-textil ');
    await openNewTab();
    expect(await sentToken('__typename}')).toBe('Bearer sandbox-sur-textil');
  });

  test('is not sent if the field is empty', async () => {
    await field().fill('');
    await openNewTab();
    expect(await sentToken('__typename}')).toBeUndefined();
  });

  test('is stored nowhere, and a reload restores the sandbox token', async () => {
    const { page } = stage;
    await field().fill('a-secret-token');
    await openTab(stage, 'Locations');
    await openTab(stage, 'Orders');
    const stored = () =>
      page.evaluate(() =>
        JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
      );
    // GraphiQL stores half a second after the last change.
    await expect.poll(stored).toContain('graphiql:tabState');
    await page.waitForTimeout(1500);
    expect(await stored()).not.toContain('a-secret-token');
    expect(await stored()).not.toContain('sandbox-cafe-andino');
    await page.reload();
    await page.getByRole('tab').first().waitFor();
    expect(await field().inputValue()).toBe('sandbox-cafe-andino');
  });

  test.each(['Authorization', 'authorization'])(
    'cannot be replaced by the header %s, and the request is not sent',
    async (name) => {
      const { page } = stage;
      await openTab(stage, 'Missing');
      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      await page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden)').click();
      await page.keyboard.insertText(`{"${name}": "Bearer sandbox-sur-textil"}`);
      expect(await runUnsent(stage, 'Missing')).toEqual({
        answer: {
          errors: [
            {
              message:
                'The headers pane names Authorization. Remove it there: the field "Access token" holds the token of all tabs.',
            },
          ],
        },
        calls: [],
      });
    },
  );

  test('is sent with the other headers of a tab', async () => {
    const { page } = stage;
    await openTab(stage, 'Missing');
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden)').click();
    await page.keyboard.insertText('{"x-upstream-cost": "1"}');
    expect(await run(stage, 'Missing')).toMatchObject({
      answer: { data: { missing: null }, extensions: { upstream: { calls: 2 } } },
    });
  });
});
