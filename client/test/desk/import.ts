import assert from 'node:assert/strict';
import { type Stage, type Try, writes } from './stage.ts';

const header = 'nombre,apellido,correo,telefono,direccion,municipio,departamento,contenido,precio,recaudo';
const row = (name: string, town = 'Pereira', price = '26.500') =>
  `${name},Ospina Toro,${name}@correo.example,+573105550102,Calle 19 # 6-32,${town},,Café molido 250 g,${price},0`;
/** Two rows are equal, and two have a fault. */
const file = [
  header,
  row('Ligia'),
  row('Jaime'),
  row('Jaime'),
  row('Pilar', 'Macondo'),
  row('Rosa', 'Pereira', 'mucho'),
].join('\n');

/** Chooses a file by the keyboard. */
async function choose({ screen }: Stage, text: string): Promise<void> {
  const { page, t } = screen;
  // Before the keys, so that the browser knows by then that it must not open a window of its own.
  const chooser = page.waitForEvent('filechooser');
  await screen.tabTo(screen.dialog.getByLabel(t.import.file));
  await screen.press('Enter');
  await (await chooser).setFiles({ name: 'pedidos.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
}

const results = ({ screen }: Stage) => screen.dialog.locator('tbody td:last-child').allInnerTexts();

export const tries: Record<string, Try> = {
  async 'a file makes an order for each row, with faults beside theirs'(stage) {
    const { screen, sandbox, url } = stage;
    const { t } = screen;
    await screen.open(url);
    await screen.activate(screen.button(t.import.title));
    await screen.look('import');
    await choose(stage, file);
    await screen.shows(t.import.rows(5));
    const mend = sandbox.faults.add({ kind: 'status', status: 503 });
    await screen.activate(screen.button(t.import.submit(5)));
    await screen.shows(t.import.sum(0, 5));
    await screen.look('import-failed');
    assert.equal(writes(stage, '/v1/orders'), 0);
    mend();
    // An order whose response is lost is found by its reference.
    sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: '/v1/orders', times: 1 });
    await screen.retryUntil(t.import.sum(3, 2));
    await screen.look('imported');
    const texts = await results(stage);
    assert.deepEqual(texts.slice(0, 3), [t.import.created, t.import.created, t.import.created]);
    assert.deepEqual(texts.slice(3), [t.import.noCity, t.import.wrongAmount('precio')]);
    assert.equal(writes(stage, '/v1/orders'), 3);
    await screen.press('Escape');
    await screen.page.waitForFunction(() =>
      document.querySelector('main tbody')?.textContent?.includes('Ligia'),
    );
    assert.equal(await screen.rows.filter({ hasText: 'Jaime Ospina Toro' }).count(), 2);
  },
  async 'the same file makes no order twice, also after a reload'(stage) {
    const { screen, url } = stage;
    const { t } = screen;
    await screen.open(url);
    await screen.activate(screen.button(t.import.title));
    await choose(stage, file);
    await screen.activate(screen.button(t.import.submit(5)));
    await screen.shows(t.import.sum(3, 2));
    assert.equal(writes(stage, '/v1/orders'), 3);
    assert.equal((await results(stage)).filter((text) => text === t.import.created).length, 3);
    await screen.press('Escape');
    await screen.tabTo(screen.button(t.import.title), 'Tab', 0);
  },
  async 'a fault that REST finds has the words of REST, and no invented bound'(stage) {
    const { screen, sandbox, url } = stage;
    const { t } = screen;
    await screen.open(url);
    await screen.activate(screen.button(t.import.title));
    await choose(stage, [header, row('Amparo')].join('\n'));
    const description = 'does not fit on the label';
    const fault = { field: 'contentDescription', description, reason: 'TOO_LONG' };
    const body = { error: { message: 'Invalid order', details: [{ fieldViolations: [fault] }] } };
    sandbox.faults.add({ kind: 'status', status: 400, body, method: 'POST', path: '/v1/orders', times: 1 });
    await screen.activate(screen.button(t.import.submit(1)));
    await screen.shows(t.import.sum(0, 1));
    assert.deepEqual(await results(stage), [`contenido: ${description}`]);
    await screen.press('Escape');
  },
  async 'a row whose order was lost gets another key, once it certainly has no order'(stage) {
    const { screen, sandbox, url } = stage;
    const { t } = screen;
    await screen.open(url);
    await screen.activate(screen.button(t.import.title));
    await choose(stage, [header, row('Tulia')].join('\n'));
    sandbox.faults.add({ kind: 'status', status: 503, method: 'POST', path: '/v1/orders', times: 1 });
    await screen.activate(screen.button(t.import.submit(1)));
    await screen.shows(t.import.sum(0, 1));
    await screen.retryUntil(t.import.sum(1, 0));
    await screen.press('Escape');
    await screen.page.waitForFunction(() =>
      document.querySelector('main tbody')?.textContent?.includes('Tulia'),
    );
    assert.equal(await screen.rows.filter({ hasText: 'Tulia Ospina Toro' }).count(), 1);
  },
};
