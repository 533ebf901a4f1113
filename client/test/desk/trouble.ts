import assert from 'node:assert/strict';
import type { Stage, Try } from './stage.ts';

/** Makes the sandbox fail by the switch of the desk, and reads the list again. */
async function fail({ screen }: Stage, trouble: 'none' | 'third' | 'down' | 'slow'): Promise<void> {
  const { t, page } = screen;
  await screen.choose(page.getByRole('combobox', { name: t.trouble.label }), trouble);
}

async function refresh({ screen }: Stage): Promise<void> {
  await screen.activate(screen.button(screen.t.board.refresh));
}

/** The rows and the selection stay whatever REST does. */
async function keeps({ screen }: Stage, rows: number): Promise<void> {
  assert((await screen.rows.count()) >= rows);
  await screen.shows(screen.t.board.selected(3));
  for (const index of [0, 1, 2]) assert(await screen.box(index).isChecked());
}

export const tries: Record<string, Try> = {
  async 'says which shipments are not known, and reads them by itself'(stage) {
    const { screen, url } = stage;
    const { t } = screen;
    await screen.open(url);
    await screen.select(3);
    await fail(stage, 'third');
    await refresh(stage);
    await screen.shows(t.board.rowNotKnown);
    await screen.look('third');
    await keeps(stage, 50);
    await fail(stage, 'none');
    await screen.gone(t.board.rowNotKnown);
    await keeps(stage, 50);
  },
  async 'keeps its rows while REST is down, and comes back by itself'(stage) {
    const { screen, url } = stage;
    const { t } = screen;
    await screen.open(url);
    await screen.select(3);
    await fail(stage, 'down');
    await refresh(stage);
    const warning = t.board.failing('|').split('|')[0] ?? '';
    await screen.shows(warning);
    await screen.look('down');
    await keeps(stage, 50);
    await fail(stage, 'none');
    await screen.gone(warning);
    await keeps(stage, 50);
  },
  async 'starts while REST is down, and shows the list when REST is back'(stage) {
    const { screen, url } = stage;
    const { t, page } = screen;
    await fail(stage, 'down');
    await page.goto(url);
    await screen.shows(t.board.failing(''));
    await screen.look('down-at-start');
    await fail(stage, 'none');
    await screen.rows.first().waitFor();
  },
  async 'shows the rows of a slow REST, and takes keys meanwhile'(stage) {
    const { screen, url } = stage;
    await fail(stage, 'slow');
    await screen.open(url);
    await screen.select(3);
    await refresh(stage);
    await keeps(stage, 50);
    await screen.look('slow');
    await screen.settled();
    await fail(stage, 'none');
  },
};
