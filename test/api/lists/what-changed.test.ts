import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { codeBlockOf, readPage, sectionOf } from '../../fixtures/markdown.ts';
import { createShop, rowsOfSeed } from '../../fixtures/shop-service.ts';
import { startApp } from '../../fixtures/start-app.ts';
import { startWaybill } from '../../harness.ts';

interface Row {
  id: string;
  updateTime: string;
  status: string;
}
interface Page {
  nodes: Row[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

const marginMs = 5 * 60_000;

interface Store {
  updatedSince: string | null;
  rows: Map<string, Row>;
}
type ReadPage = (variables: { updatedSince: string | null; after: string | null }) => Promise<Page>;
type CopyChanges = (readPage: ReadPage, store: Store, now: () => number) => Promise<void>;

// The function of the page, so that readers get what these tests hold.
const section = sectionOf(readPage('docs/api-reference.md'), 'What changed since');
const script = stripTypeScriptTypes(codeBlockOf(section, 'ts'));
const { copyChanges }: { copyChanges: CopyChanges } = await import(
  `data:text/javascript,${encodeURIComponent(script)}`
);

/** A sync job as docs/api-reference.md describes it. `ask` reads a page with these arguments. */
function createCopy(ask: (args: string) => Promise<Page>, nowMs: () => number, updatedSince: string | null) {
  const store: Store = { updatedSince, rows: new Map() };
  return {
    rows: store.rows,
    /** Reads what has changed. Calls `between` between two pages. @returns the ids of all rows that came */
    async run(first: number, between: () => Promise<void> | void = () => {}): Promise<string[]> {
      const came: string[] = [];
      const readPage: ReadPage = async ({ updatedSince, after }) => {
        if (after !== null) await between();
        const page = await ask(
          `first: ${first}, updatedSince: ${JSON.stringify(updatedSince)}, after: ${JSON.stringify(after)}`,
        );
        came.push(...page.nodes.map(({ id }) => id));
        return page;
      };
      await copyChanges(readPage, store, nowMs);
      return came;
    },
  };
}

const fields = '{ nodes { id updateTime status } pageInfo { hasNextPage endCursor } }';

test.each([false, true])(
  'a sync job misses no write between its pages (oldest first: %s)',
  async (oldestFirst) => {
    await using waybill = await startWaybill({}, { quirks: { oldestFirst } });
    const { clock } = waybill.sandbox;
    const readOrders = async (args: string) =>
      (await waybill.ask<{ orders: Page }, object>(`{ orders(${args}) ${fields} }`)).data.orders;
    const nowMs = () => clock.now().getTime();
    const sinceMs = nowMs() - 4 * 24 * 3_600_000;
    const copy = createCopy(readOrders, nowMs, new Date(sinceMs).toISOString());
    const ids = ['ca2496', 'ca2490', 'ca2486', 'ca2480', 'ca2474'].map((id) => `orders/${id}`);
    const written: string[] = [];
    const write = async () => {
      clock.advance(1_000);
      const id = ids[written.length % ids.length] ?? '';
      written.push(id);
      const input = `{ id: "${id}", notes: "Cambio ${written.length}" }`;
      const { data } = await waybill.ask<{ updateOrder: { __typename: string } }, object>(
        `mutation { updateOrder(input: ${input}) { __typename } }`,
      );
      expect(data.updateOrder.__typename).toBe('UpdateOrderSuccess');
    };
    await copy.run(10, write);
    expect(written.length).toBeGreaterThan(3);
    clock.advance(3_600_000);
    const repeated = await copy.run(10, write);
    clock.advance(3_600_000);
    const last = await copy.run(10);
    const all = await readOrders(`first: 1000, updatedSince: "${new Date(sinceMs).toISOString()}"`);
    const expected = new Map(all.nodes.map((row) => [row.id, row]));
    expect(copy.rows).toEqual(expected);
    // Each run repeats at most what has changed since 5 minutes before the start of the run before.
    const startsMs = [nowMs() - 2 * 3_600_000, nowMs() - 3_600_000].map((ms) => ms - marginMs - 60_000);
    for (const [index, came] of [repeated, last].entries())
      for (const id of came) {
        const changedMs = Date.parse(expected.get(id)?.updateTime ?? '');
        expect(changedMs).toBeGreaterThanOrEqual(startsMs[index] ?? Infinity);
      }
  },
  60_000,
);

test('a sync job misses no change if a change moves a row to the top of its list', async () => {
  const { orders } = rowsOfSeed({ seed: 5, orderCount: 3_000, sorting: 'newest first' });
  const shop = createShop(orders, []);
  shop.isByUpdateTime = true;
  await using app = await startApp(shop.answer);
  // After all changes of the seed.
  let clockMs = Date.parse('2026-02-01T00:00:00Z');
  const readOrders = async (args: string) => {
    const { data } = await app.ask(`{ orders(${args}) ${fields} }`);
    return (data as { orders: Page }).orders; // The document selects these.
  };
  const copy = createCopy(readOrders, () => clockMs, null);
  let changes = 0;
  const change = () => {
    for (let count = 0; count < 7; count += 1) {
      clockMs += 1_000;
      changes += 1;
      const index = (changes * 397) % shop.orders.length;
      const row = shop.orders[index];
      const status = changes % 2 === 0 ? 'READY' : 'CANCELLED';
      if (row !== undefined)
        shop.orders[index] = { ...row, status, updateTime: new Date(clockMs).toISOString() };
    }
  };
  const allRows = () =>
    new Map(shop.orders.map(({ name, status, updateTime }) => [name, { id: name, status, updateTime }]));
  await copy.run(100, change);
  expect(changes).toBeGreaterThan(100);
  clockMs += 3_600_000;
  const second = await copy.run(100, change);
  // Only the changes of the first run came again, each once, and those of this run.
  expect(second.length).toBeLessThanOrEqual(changes);
  clockMs += 3_600_000;
  await copy.run(1_000);
  expect(copy.rows).toEqual(allRows());
});
