import assert from 'node:assert/strict';
import { type Try, writes } from './stage.ts';

/** The path by which the desk sends: a message by phone. */
const path = /\/messages$|messages:|sendMessage/i;

export const tries: Record<string, Try> = {
  async 'a template goes once to each customer, although REST fails'(stage) {
    const { screen, sandbox, url } = stage;
    const { t, page } = screen;
    await screen.open(url);
    await screen.select(3);
    const names = await screen.rows.locator('.name').allInnerTexts();
    await screen.openFromRows(t.message.title);
    await screen.dialog.locator('.preview').waitFor();
    await screen.look('message');
    const list = screen.dialog.getByRole('combobox', { name: t.message.template });
    const values = await list.locator('option').allInnerTexts();
    await screen.choose(list, values[1] ?? '');
    await screen.look('message-other');
    await screen.choose(list, values[0] ?? '');
    // A parameter without a guess needs an own text.
    const own = screen.dialog.locator('fieldset input');
    for (let index = 0; index < (await own.count()); index += 1) {
      await screen.tabTo(own.nth(index));
      await screen.type('Hoy');
    }
    const preview = await screen.dialog.locator('.preview').innerText();
    const [first = ''] = names;
    assert(preview.includes(first.split(' ')[0] ?? first), preview);
    const mend = sandbox.faults.add({ kind: 'status', status: 503, method: 'POST' });
    await screen.activate(screen.button(t.message.submit(3)));
    await screen.shows(t.message.sum(0, 3));
    mend();
    sandbox.requests.clear();
    await screen.retryUntil(t.message.sum(3, 3));
    await screen.look('message-sent');
    const sent = sandbox.requests
      .entries()
      .filter(({ method, status }) => method === 'POST' && status === 200);
    const customers = new Set(names.slice(0, 3));
    assert.equal(writes(stage, path), customers.size);
    const [body] = sent.map((entry) => JSON.stringify(entry.body));
    assert(body?.includes(first), body);
    assert.equal(await screen.dialog.getByText(t.message.sent, { exact: true }).count(), 3);
    await screen.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    await screen.shows(t.board.selected(3));
  },
};
