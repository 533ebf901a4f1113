import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { codeBlockOf, readPage, sectionOf } from '../../fixtures/markdown.ts';
import { order } from '../../fixtures/order-to-create.ts';
import { startWaybill } from '../../harness.ts';

// The import of docs/api-reference.md, with the client of docs/errors.md.

type Session = { token(): string; refresh(): Promise<void> };
type ImportOrders = (rows: object[], orders: Map<string, string>, session: Session) => Promise<object[]>;

async function importFunction(origin: string): Promise<ImportOrders> {
  const code = [
    codeBlockOf(sectionOf(readPage('docs/errors.md'), 'Retry'), 'ts'),
    codeBlockOf(sectionOf(readPage('docs/api-reference.md'), '`shipOrder` and lists of writes'), 'ts'),
  ].join('\n');
  const script = stripTypeScriptTypes(code).replace('http://127.0.0.1:4000', origin);
  const { importOrders } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
  return importOrders;
}

test('the import example of the docs creates each order once, even after a crash', async () => {
  await using waybill = await startWaybill();
  const importOrders = await importFunction(waybill.url.origin);
  const session = { token: () => waybill.sandbox.tokens.first, refresh: () => Promise.resolve() };
  const rows = Array.from({ length: 250 }, (_, index) => ({ ...order, referenceId: `row ${index}` }));
  const invalid = { ...order, referenceId: 'row 250', notes: '' };

  const first = new Map<string, string>();
  expect(await importOrders(rows.slice(0, 130), first, session)).toEqual([]);
  // The importer has lost its results.
  const second = new Map<string, string>();
  expect(await importOrders([...rows, invalid], second, session)).toEqual([
    {
      referenceId: 'row 250',
      message: expect.stringMatching(/^The input is invalid/),
      fields: [expect.objectContaining({ path: 'notes', code: 'TOO_SHORT', limit: 3 })],
      retryable: false,
    },
  ]);
  expect(second.size).toBe(250);
  expect([...first].every(([reference, id]) => second.get(reference) === id)).toBe(true);
  const posts = waybill.sandbox.requests.lines().filter((line) => line === 'POST /v1/orders');
  expect(posts).toHaveLength(250);
});
