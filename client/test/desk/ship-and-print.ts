import assert from 'node:assert/strict';
import { ask, intercept, type Stage, type Try, writes } from './stage.ts';

/** The morning's work: eight orders. */
const count = 8;

/** Shows the orders without a shipment, and selects the first ones. */
async function selectOpen({ screen, url }: Stage, orders: number): Promise<string[]> {
  await screen.open(`${url}/?shipment=none`);
  await screen.settled();
  await screen.select(orders);
  const ids = await screen.rows.evaluateAll((rows) => rows.map((row) => row.getAttribute('data-id') ?? ''));
  return ids.slice(0, orders);
}

/** The shipments of orders, in their sequence. */
async function shipmentsOf(
  stage: Stage,
  ids: string[],
): Promise<{ id: string; totalCost: { cents: number } }[]> {
  const query =
    'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { shipment { id totalCost { cents } } } } }';
  const { nodes } = await ask<{ nodes: { shipment: { id: string; totalCost: { cents: number } } }[] }>(
    stage,
    query,
    { ids },
  );
  return nodes.map(({ shipment }) => shipment);
}

let shipped: string[] = [];

export const tries: Record<string, Try> = {
  async 'a ceiling below all offers ships nothing'(stage) {
    const { screen } = stage;
    const { t } = screen;
    await selectOpen(stage, count);
    await screen.openFromRows(t.ship.title);
    await screen.look('ship');
    await screen.activate(screen.button(t.ship.showOffers));
    await screen.dialog.locator('thead').waitFor();
    await screen.look('ship-offers');
    await screen.tabTo(screen.dialog.getByLabel(t.ship.ceiling));
    await screen.type('1');
    await screen.activate(screen.button(t.ship.submit(count)));
    await screen.button(t.ship.retry(count)).waitFor();
    const results = await screen.dialog.locator('td.error').allInnerTexts();
    assert.equal(results.filter((text) => text.startsWith(t.noOffer.ABOVE_LIMIT)).length, count);
    assert.equal(writes(stage, '/v1/shipments'), 0);
    await screen.look('ship-refused');
    await screen.press('Escape');
    await screen.tabTo(screen.button(t.ship.title), 'Tab', 0);
    await screen.shows(t.board.selected(count));
  },
  async 'eight orders ship once, although REST fails and a response is lost'(stage) {
    const { screen, sandbox } = stage;
    const { t } = screen;
    shipped = await selectOpen(stage, count);
    await screen.openFromRows(t.ship.title);
    await screen.tabTo(screen.button(t.ship.submit(count)));
    const mend = sandbox.faults.add({ kind: 'status', status: 503 });
    await screen.press('Enter');
    await screen.button(t.ship.retry(count)).waitFor();
    mend();
    await screen.look('ship-failed');
    sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', path: '/v1/shipments', times: 1 });
    await screen.retryUntil(t.ship.sum(count, count, '').slice(0, -2));
    await screen.look('shipped');
    const shipments = await shipmentsOf(stage, shipped);
    assert.equal(new Set(shipments.map(({ id }) => id)).size, count);
    assert.equal(writes(stage, '/v1/shipments'), count);
    const pesos = shipments.reduce((sum, { totalCost }) => sum + totalCost.cents, 0) / 100;
    const sum = pesos.toLocaleString('es-CO');
    assert.match(await screen.dialog.innerText(), new RegExp(`\\$\\s${sum.replaceAll('.', '\\.')}\\b`));
  },
  async 'labels print in the sequence of the rows, and are marked'(stage) {
    const { screen, sandbox, url } = stage;
    const { t, page } = screen;
    await screen.press('Escape');
    await screen.activate(screen.button(t.print.title));
    await screen.shows(t.print.toPrint(count));
    await screen.choose(screen.dialog.getByRole('combobox', { name: t.print.layout }), 'LETTER_FOUR');
    await screen.tabTo(screen.dialog.getByRole('radio', { name: '1' }));
    await screen.press('ArrowDown', 'ArrowDown');
    await screen.tabTo(screen.dialog.getByRole('checkbox', { name: t.print.summary }));
    await screen.press('Space');
    await screen.look('print');
    const shipments = (await shipmentsOf(stage, shipped)).map(({ id }) => id);
    // REST cannot read one of them now, and some are not made yet.
    const path = `/v1/${shipments[1]}`;
    const mend = sandbox.faults.add({ kind: 'status', status: 503, path });
    const request = page.waitForRequest((each) => each.postData()?.includes('mutation Print') ?? false);
    await screen.activate(screen.button(t.print.submit(count)));
    const { input } = (await request).postDataJSON().variables;
    assert.deepEqual(input, { shipments, layout: 'LETTER_FOUR', startAt: 3, summary: true });
    const link = screen.dialog.locator('a.primary');
    await link.waitFor();
    mend();
    await screen.look('print-missing');
    const missing = await screen.dialog.locator('li').allInnerTexts();
    assert(
      missing.some((text) => text.endsWith(t.print.outcomes.FAILED)),
      missing.join(),
    );
    const labels = count - missing.length;
    await opensPdf(stage, labels);
    assert.equal(await screen.rows.getByText(t.board.printedAt('').trim()).count(), labels);

    await screen.press('Escape');
    sandbox.clock.advance(60_000);
    await screen.openFromRows(t.print.title);
    await screen.shows(t.print.toPrint(missing.length));
    await screen.look('print-rest');
    await screen.tabTo(screen.dialog.getByRole('checkbox', { name: t.print.reprint(labels) }));
    await screen.press('Space');
    await screen.shows(t.print.toPrint(count));
    await screen.activate(screen.button(t.print.submit(count)));
    await opensPdf(stage, count);
    await screen.press('Escape');
    await screen.look('printed');

    const { nodes } = await ask<{
      nodes: { referenceId: string | null; recipient: { phoneNumber: string } }[];
    }>(
      stage,
      'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Order { referenceId recipient { phoneNumber } } } }',
      { ids: shipped },
    );
    const search =
      nodes.find(({ referenceId }) => referenceId)?.referenceId ?? nodes[0]?.recipient.phoneNumber;
    await screen.open(`${url}/?q=${encodeURIComponent(search ?? '')}`);
    await screen.rows.getByText(t.board.printedAt('').trim()).first().waitFor();
  },
  async 'orders without a shipment are named, and not printed'(stage) {
    const { screen } = stage;
    const { t } = screen;
    await selectOpen(stage, 2);
    await screen.openFromRows(t.print.title);
    await screen.shows(t.print.without(2));
    assert.equal(await screen.dialog.locator('li').count(), 2);
    await screen.press('Escape');
  },
  async 'an order whose outcome is unknown keeps its key when the dialog is closed'(stage) {
    const { screen } = stage;
    const { t } = screen;
    await selectOpen(stage, 1);
    const keys: string[] = [];
    const release = await intercept(stage, ['ShipOrders'], async (route) => {
      const { inputs } = route.request().postDataJSON().variables;
      keys.push(...inputs.map(({ idempotencyKey }: { idempotencyKey: string }) => idempotencyKey));
      // The request is lost. The desk cannot tell it from a lost response.
      await route.fulfill({ status: 502, contentType: 'text/plain', body: 'Bad gateway' });
    });
    await screen.openFromRows(t.ship.title);
    await screen.activate(screen.button(t.ship.submit(1)));
    await screen.button(t.ship.retry(1)).waitFor();
    await screen.press('Escape');
    await screen.activate(screen.button(t.ship.title));
    await screen.activate(screen.button(t.ship.submit(1)));
    await screen.button(t.ship.retry(1)).waitFor();
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
    await release();
    await screen.press('Escape');
  },
  async 'an unknown cost is not shown as zero, is last, and is no part of the sum'(stage) {
    const { screen, sandbox } = stage;
    const { t } = screen;
    await selectOpen(stage, 2);
    sandbox.faults.add({ kind: 'change', method: 'POST', path: '/v1/quotes', change: withoutLowestCost });
    sandbox.faults.add({
      kind: 'change',
      method: 'POST',
      path: '/v1/shipments',
      times: 1,
      change: (shipment) => ({ ...Object(shipment), totalCostCents: undefined }),
    });
    await screen.openFromRows(t.ship.title);
    await screen.activate(screen.button(t.ship.showOffers));
    const offered = screen.dialog.locator('tbody td:nth-child(2)');
    await offered.first().waitFor();
    const costs = await offered.allInnerTexts();
    const at = costs.indexOf(t.unknownCost);
    assert(at > 0 && costs.slice(0, at).every((cost) => /^\$\s[1-9]/.test(cost)), costs.join());
    assert(!costs.slice(at).some((cost) => cost.startsWith('$')), costs.join());
    await screen.activate(screen.button(t.ship.submit(2)));
    await screen.shows(t.ship.sum(2, 2, '').slice(0, -2));
    await screen.look('shipped-for-unknown-cost');
    const shown = await screen.dialog.locator('table').last().locator('td').allInnerTexts();
    const known = shown.flatMap((text) => /\$\s[\d.]+$/.exec(text)?.[0] ?? []);
    assert(shown.length === 2 && known.length === 1, shown.join());
    assert.equal(shown.filter((text) => text.endsWith(t.unknownCost)).length, 1);
    await screen.shows(t.ship.sum(2, 2, known[0] ?? '', 1));
    sandbox.faults.clear();
    await screen.press('Escape');
  },
};

/** A quote whose cheapest available offer lacks its cost. */
function withoutLowestCost(quote: unknown): unknown {
  const { offers, ...rest }: { offers: { status: string; shipmentCostCents?: number }[] } = Object(quote);
  const costs = offers.flatMap(({ status, shipmentCostCents }) =>
    status === 'SUCCESS' ? (shipmentCostCents ?? []) : [],
  );
  const lowest = Math.min(...costs);
  return {
    ...rest,
    offers: offers.map(({ shipmentCostCents, ...offer }) =>
      offer.status === 'SUCCESS' && shipmentCostCents === lowest ? offer : { ...offer, shipmentCostCents },
    ),
  };
}

/** Opens the document by its link in another tab. */
async function opensPdf({ screen }: Stage, labels: number): Promise<void> {
  const link = screen.dialog.locator('a.primary');
  await link.waitFor();
  const text = await link.innerText();
  const response = await fetch((await link.getAttribute('href')) ?? '');
  assert.equal(response.headers.get('content-type'), 'application/pdf');
  const pages = Number(/(\d+) \S+$/.exec(text)?.[1]);
  assert.equal(text, screen.t.print.open(labels, pages));
  const tab = screen.page.context().waitForEvent('page');
  await screen.activate(link);
  await (await tab).close();
}
