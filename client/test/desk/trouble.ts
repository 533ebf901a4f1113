import assert from 'node:assert/strict';
import { intercept, type Stage, type Try } from './stage.ts';

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

/** The sentence of the board after a failed read, without its time. */
const warning = ({ screen }: Stage) => screen.t.board.failing('|').split('|')[0] ?? '';

/** What a server that has too many streams sends. */
const refusedStream = {
  contentType: 'multipart/mixed; boundary="graphql"; subscriptionSpec=1.0',
  body: [
    '',
    '--graphql',
    'content-type: application/json',
    '',
    JSON.stringify({
      payload: {
        errors: [
          {
            message: 'The server is at its limit of streams. Retry later.',
            extensions: { code: 'OVERLOADED', retryable: true, retryAfterMs: 1_000 },
          },
        ],
      },
    }),
    '--graphql--',
    '',
  ].join('\r\n'),
};

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
    await screen.open(url);
    await screen.select(3);
    await fail(stage, 'down');
    await refresh(stage);
    await screen.shows(warning(stage));
    await screen.look('down');
    await keeps(stage, 50);
    await fail(stage, 'none');
    await screen.gone(warning(stage));
    await keeps(stage, 50);
  },
  async 'reads its rows itself while the server refuses the stream'(stage) {
    const { screen, sandbox, url } = stage;
    const { page } = screen;
    const release = await intercept(stage, ['Live'], (route) => route.fulfill(refusedStream));
    const refused = page.waitForResponse((each) => /subscription Live/.test(each.request().postData() ?? ''));
    await screen.open(url);
    // A narrow window has rows only below the filters, and streams only the rows that it shows.
    await screen.select(3);
    await screen.settled();
    await refused;
    const before = await page.evaluateHandle(() =>
      [...document.querySelectorAll('main tbody tr')].map((row) => row.textContent),
    );
    sandbox.clock.advance(24 * 3_600_000);
    await page.waitForFunction(
      (texts) =>
        [...document.querySelectorAll('main tbody tr')].some((row, at) => row.textContent !== texts[at]),
      before,
    );
    await screen.gone(warning(stage));
    await release();
  },
  async 'says so while no read reaches the server, and comes back by itself'(stage) {
    const { screen, url } = stage;
    const offline = (names: string[]) => intercept(stage, names, (route) => route.abort());
    // Neither the stream nor the read in its place.
    let back = await offline(['Live', 'Rows']);
    await screen.open(url);
    await screen.select(3);
    await screen.shows(warning(stage));
    await keeps(stage, 50);
    await back();
    await screen.gone(warning(stage));
    back = await offline(['Board']);
    await refresh(stage);
    await screen.shows(warning(stage));
    await keeps(stage, 50);
    await back();
    await screen.gone(warning(stage));
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
