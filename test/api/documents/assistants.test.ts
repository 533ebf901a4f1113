import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readTrustedDocuments } from '../../../src/server/documents/trusted-documents.ts';
import { readPage } from '../../fixtures/markdown.ts';
import { startWaybill } from '../../harness.ts';

// docs/assistants.md as its reader follows it, without Apollo's MCP server.

const page = readPage('docs/assistants.md');
const blocks = (language: string) =>
  page.codeBlocks.filter((block) => block.language === language).map(({ text }) => text);

const folder = mkdtempSync(join(tmpdir(), 'waybill-assistants-'));
mkdirSync(join(folder, 'reads'));
for (const [index, text] of blocks('graphql').entries())
  writeFileSync(join(folder, 'reads', `${index}.graphql`), text);
writeFileSync(join(folder, 'list.mjs'), blocks('js').join('\n'));
execFileSync(process.execPath, ['list.mjs'], { cwd: folder });
const file = join(folder, 'reads.json');
const { operations }: { operations: { id: string; name: string; body: string }[] } = JSON.parse(
  readFileSync(file, 'utf8'),
);
const waybill = await startWaybill(
  { SCHEMA: 'private' },
  { trustedDocuments: await readTrustedDocuments(file) },
);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await waybill[Symbol.asyncDispose]();
});

const variables = { id: 'ca2036', status: ['NEW'] };

test('docs/assistants.md has three read operations', () => {
  expect(operations.map(({ name }) => name)).toEqual(['FindOrders', 'FindShipment', 'CountShipments']);
});

test.each(operations)('the server runs $name by its id and by its text', async ({ id, body }) => {
  const persisted = { variables, extensions: { persistedQuery: { version: 1, sha256Hash: id } } };
  const byId = await waybill.post(JSON.stringify(persisted));
  expect(byId.body).toEqual({ data: expect.any(Object) });
  const byText = await waybill.post(JSON.stringify({ query: body, variables }));
  expect(byText.body).toEqual({ data: expect.any(Object) });
});

test.each([
  'mutation { updateOrder(input: { id: "ca1", notes: "changed" }) { __typename } }',
  '{ organization { balance { cents } } }',
  '{ __schema { types { name } } }',
])('the server refuses %s without a REST call', async (query) => {
  waybill.sandbox.requests.clear();
  const { body } = await waybill.post(JSON.stringify({ query }));
  expect(body).toMatchObject({ errors: [{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }] });
  expect(waybill.sandbox.requests.lines()).toEqual([]);
});

test('the script of docs/assistants.md refuses a mutation in the folder "reads"', () => {
  const other = mkdtempSync(join(tmpdir(), 'waybill-assistants-'));
  mkdirSync(join(other, 'reads'));
  writeFileSync(join(other, 'reads/write.graphql'), 'mutation Write { __typename }');
  writeFileSync(join(other, 'list.mjs'), blocks('js').join('\n'));
  expect(() => execFileSync(process.execPath, ['list.mjs'], { cwd: other, stdio: 'pipe' })).toThrow(
    'write.graphql is no read',
  );
  rmSync(other, { recursive: true });
});
