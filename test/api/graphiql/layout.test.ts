import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTabs } from '../../../src/server/routes/graphiql/tabs.ts';
import { hasBrowser } from '../../fixtures/browser.ts';
import { type GraphiqlStage, openTab, startGraphiql, whenDrawn } from '../../fixtures/graphiql-stage.ts';

/** A busy machine draws late. */
const patience = { timeout: 90_000 };

describe.runIf(hasBrowser)('the layout of GraphiQL', () => {
  let stage: GraphiqlStage;
  beforeAll(async () => {
    stage = await startGraphiql('api.example.com');
    // The first page of a browser takes longest.
    await stage.page.goto(stage.url.href);
    await whenDrawn(stage);
  }, 120_000);
  afterAll(() => stage.close());

  async function openAt(width: number, height: number): Promise<void> {
    const { page, url } = stage;
    await page.setViewportSize({ width, height });
    // GraphiQL stores which panes are open.
    await page.goto(new URL('/health/live', url).href);
    await page.evaluate(() => localStorage.clear());
    await page.goto(url.href);
    await whenDrawn(stage);
  }

  async function boxOf(locator: Locator) {
    const { x, y, width, height } = (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    return { left: x, top: y, width, height, right: x + width, bottom: y + height };
  }

  const editor = () => stage.page.locator('.graphiql-editors');
  const response = () => stage.page.locator('.graphiql-response');

  describe.each([
    [375, 812, 'below'],
    [375, 667, 'below'],
    [768, 1024, 'below'],
    [1280, 800, 'beside'],
    [667, 375, 'beside'],
  ] as const)('in a window of %i × %i pixels', (width, height, place) => {
    beforeAll(() => openAt(width, height));

    test(`has the response ${place} the editor`, async () => {
      const [first, second] = [await boxOf(editor()), await boxOf(response())];
      if (place === 'beside') {
        expect(second.left).toBeGreaterThanOrEqual(first.right);
        expect(Math.round(second.top)).toBe(Math.round(first.top));
        return;
      }
      expect(second.top).toBeGreaterThanOrEqual(first.bottom);
      for (const box of [first, second]) {
        expect(box.width).toBeGreaterThan(width - 40);
        expect(box.height).toBeGreaterThan(200);
        expect(box.bottom).toBeLessThanOrEqual(height);
      }
    });

    test('has all buttons and the access token within the window', async () => {
      const { page } = stage;
      const controls = [
        page.getByLabel('Access token'),
        page.getByText('Live service: api.example.com'),
        page.getByRole('button', { name: 'New tab' }),
        page.getByRole('button', { name: 'Variables', exact: true }),
        page.getByRole('button', { name: 'Headers', exact: true }),
        ...(await page.locator('.graphiql-sidebar button').all()),
        page.getByRole('button', { name: /^Execute query/ }),
      ];
      expect(controls.length).toBeGreaterThan(9);
      for (const control of controls) {
        const { left, right, top, bottom } = await boxOf(control);
        expect(right - left).toBeGreaterThan(20);
        expect(left).toBeGreaterThanOrEqual(0);
        expect(right).toBeLessThanOrEqual(width);
        expect(top).toBeGreaterThanOrEqual(0);
        expect(bottom).toBeLessThanOrEqual(height);
      }
      // The page itself does not scroll.
      const beyond = await page.evaluate(() => [
        document.documentElement.scrollWidth - innerWidth,
        document.documentElement.scrollHeight - innerHeight,
      ]);
      expect(beyond).toEqual([0, 0]);
    });
  });

  test('keeps the toolbar buttons above the lower panes in a low window', async () => {
    await openAt(375, 667);
    const { page } = stage;
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const toolbar = await boxOf(page.locator('.graphiql-toolbar'));
    const tools = await boxOf(page.locator('.graphiql-editor-tools'));
    expect(toolbar.bottom).toBeLessThanOrEqual(tools.top);
    expect((await boxOf(page.locator('.graphiql-toolbar button').first())).right).toBeLessThanOrEqual(
      toolbar.right,
    );
  });

  test('has the whole dialog of the settings within a window of 375 pixels', async () => {
    await openAt(375, 667);
    const { page } = stage;
    await page.getByRole('button', { name: /settings/i }).click();
    const dialog = page.getByRole('dialog');
    for (const name of ['System', 'Light', 'Dark', 'Clear data']) {
      const { left, right } = await boxOf(dialog.getByRole('button', { name, exact: true }));
      const box = await boxOf(dialog);
      expect(left).toBeGreaterThanOrEqual(box.left);
      expect(right).toBeLessThanOrEqual(box.right);
    }
  });

  test('wraps no line of an example tab in a window of 1280 pixels', async () => {
    await openAt(1280, 2000);
    for (const query of await readTabs(true)) {
      const title = /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1] ?? '';
      await openTab(stage, title);
      const lines = stage.page.locator('.graphiql-query-editor .view-line');
      await expect.poll(() => lines.count(), patience).toBe(query.split('\n').length);
    }
  });

  test.each(['light', 'dark'] as const)('shows comments in a readable color: %s', async (colorScheme) => {
    const { page } = stage;
    await page.emulateMedia({ colorScheme });
    await openAt(1280, 800);
    const comment = page.locator('.graphiql-query-editor .view-line span span').first();
    const contrast = async () => {
      const [ink, paper] = await comment.evaluate((element) => {
        const editors = element.closest('.graphiql-editors') ?? element;
        return [getComputedStyle(element).color, getComputedStyle(editors).backgroundColor];
      });
      const [dark = 0, light = 0] = [ink, paper].map(luminanceOf).sort((one, other) => one - other);
      return (light + 0.05) / (dark + 0.05);
    };
    expect(await comment.innerText()).toContain('#');
    // The least contrast of WCAG 2.2 for text. The editor colors its text a moment later.
    await expect.poll(contrast, patience).toBeGreaterThanOrEqual(4.5);
  });
});

/** The relative luminance of a color such as "rgb(0, 128, 0)", by WCAG 2.2. */
function luminanceOf(color = ''): number {
  const [red = 0, green = 0, blue = 0] = [...color.matchAll(/[\d.]+/g)].map(([channel]) => {
    const part = Number(channel) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
