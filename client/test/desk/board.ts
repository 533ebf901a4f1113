import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Response } from 'playwright-core';
import type { Stage, Try } from './stage.ts';

const maxBytes = 200_000;

/** The names of the rows on the screen, from the top. */
const names = ({ screen }: Stage) => screen.rows.locator('th').allInnerTexts();

/** The list itself. */
export const tries: Record<string, Try> = {
  async 'the first screen is small'({ screen, url }) {
    const responses: Response[] = [];
    const collect = (response: Response) => responses.push(response);
    screen.page.on('response', collect);
    await screen.open(url);
    screen.page.off('response', collect);
    // A stream has no end.
    const whole = responses.filter(
      (response) => !/mixed|event-stream/.test(response.headers()['content-type'] ?? ''),
    );
    const bodies = await Promise.all(whole.map((response) => response.body()));
    const bytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
    assert(bodies.length > 3 && bytes < maxBytes, `${bodies.length} files of ${bytes} bytes`);
    await screen.look('board');
  },
  async 'filters are in the address, and a reload keeps them'(stage) {
    const { screen, url } = stage;
    const { t, page } = screen;
    await screen.open(url);
    const box = page.getByRole('checkbox', { name: t.orderStatus.NEW, exact: true });
    await screen.tabTo(box);
    await screen.press('Space');
    await page.waitForURL(/\?status=NEW$/);
    await page.waitForFunction((status) => {
      const badges = [...document.querySelectorAll('main .badge')];
      return badges.length > 0 && badges.every((badge) => badge.textContent === status);
    }, t.orderStatus.NEW);
    await screen.settled();
    const before = (await names(stage)).slice(0, 5);
    await page.reload();
    await screen.rows.first().waitFor();
    assert(await box.isChecked());
    assert.deepEqual((await names(stage)).slice(0, 5), before);
    await screen.tabTo(box);
    await screen.press('Space');
    await page.waitForURL((address) => !address.search.includes('status'));
  },
  async 'the selection survives filters, a search, pages and a refresh'(stage) {
    const { screen, url } = stage;
    const { t, page } = screen;
    await screen.open(url);
    await screen.select(3);
    const chosen = (await names(stage)).slice(0, 3);
    await screen.tabTo(page.getByRole('radio', { name: t.board.anyShipment }), 'Shift+Tab');
    await screen.press('ArrowDown', 'ArrowDown');
    await page.waitForURL(/\?shipment=stuck$/);
    await screen.settled();
    await screen.shows(t.board.selected(3));
    await screen.press('ArrowUp', 'ArrowUp');
    await page.waitForURL((address) => address.search.length < 2);
    const [name = ''] = /[A-Z]+[^\n]+/.exec(chosen[2] ?? '') ?? [];
    await screen.tabTo(page.getByRole('searchbox', { name: t.board.search }), 'Shift+Tab');
    await screen.type('no such customer');
    await screen.shows(t.board.empty);
    await screen.look('empty');
    await screen.type(name.split(' ')[1] ?? name);
    await screen.rows.first().waitFor();
    await screen.type('');
    await page.waitForURL((address) => address.search.length < 2);
    await screen.settled();
    await screen.tabTo(screen.button(t.board.refresh));
    await screen.press('Enter');
    await screen.settled();
    // The list does not grow by itself under the keys of a user who wants to leave it.
    await screen.activate(screen.button(t.board.more));
    await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length >= 100);
    await screen.shows(t.board.selected(3));
    for (const index of [0, 1, 2]) assert(await screen.box(index).isChecked());
    assert.deepEqual((await names(stage)).slice(0, 3), chosen);
  },
  async 'the actions are near the rows, and not behind the endless list'({ screen, url }) {
    await screen.open(url);
    await screen.select(2);
    await screen.tabTo(screen.page.getByRole('link', { name: screen.t.board.toActions }), 'Shift+Tab', 4);
    await screen.press('Enter');
    await screen.tabTo(screen.button(screen.t.ship.title), 'Tab', 1);
  },
  async 'a live change leaves the other rows, the selection and the focus'({ screen, url, sandbox }) {
    const { page, t } = screen;
    await screen.open(url);
    await screen.select(4);
    const kept = await page.evaluateHandle(() => {
      const body = document.querySelector('main tbody');
      const rows = [...document.querySelectorAll('main tbody tr')];
      const moves: string[] = [];
      const observer = new MutationObserver((changes) => {
        for (const { target } of changes) moves.push(target === body ? 'rows' : 'busy');
      });
      if (body) observer.observe(body, { childList: true });
      const table = document.querySelector('main table');
      if (table) observer.observe(table, { attributes: true });
      return {
        rows,
        texts: rows.map((row) => row.textContent),
        focus: document.activeElement,
        moves,
        top: scrollY,
      };
    });
    sandbox.clock.advance(24 * 3_600_000);
    await page.waitForFunction(
      ({ rows, texts }) => rows.some((row, at) => row.textContent !== texts[at]),
      kept,
    );
    const lost = await kept.evaluate(({ rows, focus, moves, top }) => [
      ...moves,
      ...(rows.every((row) => row.isConnected) ? [] : ['a row']),
      ...(document.activeElement === focus ? [] : ['the focus']),
      ...(scrollY === top ? [] : ['the place']),
    ]);
    assert.deepEqual(lost, []);
    await screen.shows(t.board.selected(4));
    for (const index of [0, 1, 2, 3]) assert(await screen.box(index).isChecked());
  },
  async 'a switch changes the language, and the next visit keeps it'({ screen, url }) {
    const { page, t } = screen;
    await screen.open(url);
    await screen.activate(screen.button(t.otherLanguage));
    await page.waitForFunction((language) => document.documentElement.lang !== language, t.language);
    await page.reload();
    await screen.rows.first().waitFor();
    assert.equal(await page.getByRole('heading', { name: t.title, exact: true }).count(), 0);
    await screen.press('Tab', 'Tab', 'Tab');
    await page.waitForFunction(() => document.activeElement?.tagName === 'BUTTON');
    await screen.press('Enter');
    await page.getByRole('heading', { name: t.title, exact: true }).waitFor();
  },
};
