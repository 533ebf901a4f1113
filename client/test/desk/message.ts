import assert from 'node:assert/strict';
import { intercept, type Stage, type Try, writes } from './stage.ts';

/** The path of a message by phone. */
const path = /^\/v1\/channels\/[^/]+\/messages$/;

/** The texts that customers have got, from the earliest. */
const sentTexts = ({ sandbox }: Stage) =>
  sandbox.requests.entries().flatMap((entry) => (path.test(entry.path) ? Object(entry.body).text : []));

/** Opens the dialog by its button, which has the focus after the dialog was open. */
async function open({ screen }: Stage): Promise<void> {
  await screen.activate(screen.button(screen.t.message.title));
  await screen.dialog.locator('.preview').waitFor();
}

async function close({ screen }: Stage): Promise<void> {
  await screen.press('Escape');
  await screen.page.waitForFunction(() => !document.querySelector('dialog'));
}

/** Gives the parameters of the first template their values. @param own the text for those that are no field of an order */
async function fill({ screen }: Stage, own: string): Promise<void> {
  await screen.choose(screen.dialog.locator('fieldset select').nth(1), 'firstName');
  const inputs = screen.dialog.locator('fieldset input');
  for (let index = 0; index < (await inputs.count()); index += 1) {
    await screen.tabTo(inputs.nth(index));
    await screen.type(own);
  }
}

/** A template as REST may have it: names with blanks, dots and accents, and one that it does not define. */
const unusual = {
  name: 'unusual',
  language: 'es',
  category: 'UTILITY',
  body: {
    text: 'Hola {{ nombre }}, su pedido {{order.id}} va a {{dirección}}, {{ barrio }}.',
    parameters: ['nombre', 'order.id', 'dirección'].map((name) => ({ name, example: '' })),
  },
  buttons: [],
};

export const tries: Record<string, Try> = {
  async 'a template goes once to each customer, although REST fails and a response is lost'(stage) {
    const { screen, sandbox, url } = stage;
    const { t, page } = screen;
    // The server keeps the templates that it has read, so they have the unusual one from the start.
    sandbox.faults.add({
      kind: 'change',
      method: 'GET',
      path: /\/templates$/,
      change: (answer) => ({ ...Object(answer), templates: [...Object(answer).templates, unusual] }),
    });
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
    await fill(stage, 'Hoy');
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
    // The desk still knows nothing of the one whose response is lost.
    await close(stage);
    await screen.shows(t.board.selected(3));
    await open(stage);
    await fill(stage, 'Hoy');
    await screen.activate(screen.button(t.message.submit(3)));
    await screen.shows(t.message.sum(2, 3));
    assert.equal(writes(stage, path), 3);
    // A user who has asked the customer says so.
    await screen.tabTo(screen.dialog.getByRole('checkbox', { name: t.message.again(1) }), 'Shift+Tab');
    await screen.press('Space');
    await screen.look('message-again');
    await screen.activate(screen.button(t.message.retry(1)));
    await screen.shows(t.message.sum(3, 3));
    assert.equal(writes(stage, path), 4);
    await close(stage);
  },
  async 'each placeholder of a template has a value, whatever its form'(stage) {
    const { screen, url } = stage;
    const { t } = screen;
    const before = writes(stage, path);
    await screen.open(url);
    await screen.select(1);
    await screen.openFromRows(t.message.title);
    const preview = screen.dialog.locator('.preview');
    await preview.waitFor();
    const list = screen.dialog.getByRole('combobox', { name: t.message.template });
    await screen.choose(list, 'unusual (es)');
    await preview.filter({ hasText: t.message.missing }).waitFor();
    const inputs = screen.dialog.locator('fieldset input');
    for (const [index, value] of ['Ana', 'P-1', 'Calle 1', 'Centro'].entries()) {
      await screen.tabTo(inputs.nth(index));
      await screen.type(value);
    }
    await screen.activate(screen.button(t.message.submit(1)));
    await screen.shows(t.message.sum(1, 1));
    assert.deepEqual(sentTexts(stage).slice(before), ['Hola Ana, su pedido P-1 va a Calle 1, Centro.']);
    await close(stage);
  },
  async 'closing the dialog stops the messages, and nobody gets one twice'(stage) {
    const { screen, url } = stage;
    const { t } = screen;
    const before = writes(stage, path);
    await screen.open(url);
    await screen.select(3);
    await screen.openFromRows(t.message.title);
    await screen.dialog.locator('.preview').waitFor();
    await fill(stage, 'Mañana');
    const reached = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    let requests = 0;
    const release = await intercept(stage, ['Send'], async (route) => {
      requests += 1;
      const response = await route.fetch();
      reached.resolve();
      await held.promise;
      await route.fulfill({ response });
    });
    await screen.activate(screen.button(t.message.submit(3)));
    await reached.promise;
    await close(stage);
    held.resolve();
    await open(stage);
    await fill(stage, 'Mañana');
    await screen.activate(screen.button(t.message.submit(3)));
    await screen.shows(t.message.sum(3, 3));
    assert.equal(writes(stage, path), before + 3);
    assert.equal(requests, 4);
    await release();
    await close(stage);
  },
};
