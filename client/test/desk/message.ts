import assert from 'node:assert/strict';
import { type Try, writes } from './stage.ts';

/** The path of a message by phone. */
const path = /^\/v1\/channels\/[^/]+\/messages$/;

export const tries: Record<string, Try> = {
  async 'a template goes once to each customer, although REST fails and a response is lost'(stage) {
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
    await screen.choose(screen.dialog.locator('fieldset select').nth(1), 'firstName');
    // The other parameters have a text of the user.
    const own = screen.dialog.locator('fieldset input');
    for (let index = 0; index < (await own.count()); index += 1) {
      await screen.tabTo(own.nth(index));
      await screen.type('Hoy');
    }
    const preview = await screen.dialog.locator('.preview').innerText();
    const [first = ''] = names;
    // Below the caption, which has the name too.
    const [, ...text] = preview.split('\n');
    assert(text.join('\n').includes(first.split(' ')[0] ?? first), preview);
    const mend = sandbox.faults.add({ kind: 'status', status: 503 });
    await screen.activate(screen.button(t.message.submit(3)));
    await screen.shows(t.message.sum(0, 3));
    mend();
    await screen.look('message-failed');
    assert.equal(writes(stage, path), 0);
    // Each customer once, also the one whose response is lost.
    sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path, times: 1 });
    await screen.retryUntil(t.message.sum(2, 3));
    await screen.look('message-sent');
    const shown = screen.dialog.getByText(t.message.sum(2, 3));
    const again = page.waitForResponse((each) => /mutation /.test(each.request().postData() ?? ''));
    await screen.activate(screen.button(t.message.retry(1)));
    await again;
    await shown.waitFor();
    assert.equal(writes(stage, path), 3);
    const [body] = sandbox.requests.entries().flatMap((entry) => (path.test(entry.path) ? [entry.body] : []));
    assert(JSON.stringify(body).includes(JSON.stringify(first).slice(1, -1)), JSON.stringify(body));
    assert.equal(await screen.dialog.getByText(t.message.sent, { exact: true }).count(), 2);
    assert.equal(await screen.dialog.getByText(t.message.unknown).count(), 1);
    await screen.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog'));
    await screen.shows(t.board.selected(3));
  },
};
