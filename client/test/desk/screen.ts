import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { Texts } from './texts.ts';

/** Where the pictures of a run are. Git ignores the folder. */
const pictures = join(import.meta.dirname, '../pictures');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const maxRetriesMs = 120_000;
const widths = [1280, 320] as const;
const schemes = ['light', 'dark'] as const;

/** The desk in the browser, as a user without a mouse has it. No method of this class clicks. */
export class Screen {
  readonly page: Page;
  readonly t: Texts;
  readonly #width: number;

  /** @param width of the window in CSS pixels */
  constructor(page: Page, t: Texts, width: number) {
    this.page = page;
    this.t = t;
    this.#width = width;
  }

  /** Opens an address of the desk, and waits for its rows. */
  async open(url: string): Promise<void> {
    await this.#resize(this.#width);
    await this.page.goto(url);
    await this.rows.first().waitFor();
  }

  get rows(): Locator {
    return this.page.locator('main tbody tr');
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  row(index: number): Locator {
    return this.rows.nth(index);
  }

  box(index: number): Locator {
    return this.row(index).getByRole('checkbox');
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Waits until the table shows the answer for its filters. */
  async settled(): Promise<void> {
    await this.page.locator('main table[aria-busy=false]').waitFor();
  }

  async shows(text: string): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  async gone(text: string): Promise<void> {
    await this.page.getByText(text).first().waitFor({ state: 'hidden', timeout: 60_000 });
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.press('ControlOrMeta+a', 'Delete');
    await this.page.keyboard.type(text);
  }

  /**
   * Presses a key until an element has the focus, and proves that the user sees it: it is in the window, nothing covers
   * it, and it has an outline.
   * @param most presses
   */
  async tabTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab', most = 250): Promise<void> {
    await target.waitFor();
    const hasFocus = () => target.evaluate((element) => element === document.activeElement);
    // The user may have scrolled away from what has the focus.
    if (await hasFocus()) return;
    for (let presses = 0; !(await hasFocus()); presses += 1) {
      assert(presses < most, `${most} presses of ${key} do not lead to ${target}`);
      await this.press(key);
    }
    const fault = await target.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const above = document.elementFromPoint(left + width / 2, top + height / 2);
      if (above === null) return 'is outside the window';
      if (above !== element && !element.contains(above))
        return `is covered by ${above.outerHTML.slice(0, 80)}`;
      return getComputedStyle(element).outlineStyle === 'none' ? 'has no outline' : '';
    });
    assert.equal(fault, '', `${target} has the focus, but ${fault}`);
  }

  /** Opens a dialog from the rows. The list has no end, so a link leads past it. */
  async openFromRows(title: string): Promise<void> {
    await this.activate(this.page.getByRole('link', { name: this.t.board.toActions }), 'Shift+Tab');
    await this.activate(this.button(title));
    await this.dialog.waitFor();
  }

  /** Goes to a button or a link, and presses it. */
  async activate(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    await this.tabTo(target, key);
    await this.press('Enter');
  }

  /**
   * Presses the button of the form until the desk shows a text. A search for an order whose response was lost counts only
   * after 10 seconds (docs/design/how-a-write-happens-once.md#a-key).
   */
  async retryUntil(text: string): Promise<void> {
    const submit = this.dialog.locator('button[type=submit]');
    const shown = this.dialog.getByText(text);
    const startedAtMs = performance.now();
    while ((await shown.count()) === 0) {
      const isLate = performance.now() - startedAtMs > maxRetriesMs;
      assert(!isLate, `No press leads to "${text}": ${await this.dialog.innerText()}`);
      await this.tabTo(submit);
      const sent = this.page.waitForResponse((each) => /mutation /.test(each.request().postData() ?? ''));
      await this.press('Enter');
      await sent;
      await this.dialog
        .locator('button[type=submit]:not(:disabled):not([aria-disabled=true])')
        .or(shown)
        .first()
        .waitFor();
    }
  }

  /** Selects the first rows, and leaves the focus on the last one. */
  async select(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      await this.tabTo(this.box(index));
      await this.press('Space');
    }
    await this.shows(this.t.board.selected(count));
  }

  /** Chooses an option of a list by its arrows. */
  async choose(list: Locator, value: string): Promise<void> {
    await this.tabTo(list);
    await this.press('Home');
    const present = () => list.evaluate((element) => (element as HTMLSelectElement).value);
    for (let presses = 0; (await present()) !== value; presses += 1) {
      assert(presses < 20, `no arrow leads to ${value}`);
      await this.press('ArrowDown');
    }
  }

  /** Proves the accessibility of what is on the screen, and that the page scrolls in one direction only. */
  async look(name: string): Promise<void> {
    mkdirSync(pictures, { recursive: true });
    for (const width of widths)
      for (const colorScheme of schemes) {
        await this.#resize(width);
        await this.page.emulateMedia({ colorScheme });
        const at = `${name}-${width}-${colorScheme}-${this.t.language}`;
        await this.page.screenshot({ path: join(pictures, `${at}.png`) });
        const wider = await this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.equal(wider, 0, `${at}: the page is ${wider} px wider than the window`);
        assert.deepEqual(await this.#violations(), [], at);
      }
    await this.#resize(this.#width);
    await this.page.emulateMedia({ colorScheme: 'light' });
  }

  async #violations(): Promise<string[]> {
    await this.page.evaluate(axe);
    return this.page.evaluate(async () => {
      // The script above adds it to the page.
      const { violations } = await (globalThis as unknown as Axe).axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0]?.html}`);
    });
  }

  async #resize(width: number): Promise<void> {
    await this.page.setViewportSize({ width, height: width === 320 ? 640 : 800 });
  }
}

/** The part of axe-core that this file uses. Its package is installed after the types are checked. */
interface Axe {
  axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
}
