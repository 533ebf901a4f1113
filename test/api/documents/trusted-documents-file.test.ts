import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTrustedDocuments } from '../../../src/server/documents/trusted-documents.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waybill-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(content: unknown): Promise<string> {
  const file = join(folder, `${Math.random()}.json`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** How the server's process ends when it is started with this file. */
async function startWith(file: string): Promise<{ code: unknown; output: string; errors: string }> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      ['src/main.ts'],
      {
        cwd: resolve(import.meta.dirname, '../../..'),
        env: { PORT: '0', UPSTREAM_URL: 'http://127.0.0.1:1', OPERATIONS_FILE: file },
        timeout: 90_000,
      },
      (error, output, errors) => done({ code: error?.code, output, errors }),
    );
  });
}

describe('OPERATIONS_FILE', () => {
  test('can be a map from ids to documents', async () => {
    const file = await fileOf({ a: '{ __typename }', b: 'query B { __typename }' });
    expect([...(await readTrustedDocuments(file))]).toEqual([
      ['a', '{ __typename }'],
      ['b', 'query B { __typename }'],
    ]);
  });

  test('can begin with a byte order mark', async () => {
    const file = await fileOf('\ufeff{"a":"{ __typename }"}');
    expect([...(await readTrustedDocuments(file))]).toEqual([['a', '{ __typename }']]);
  });

  test('must be UTF-8', async () => {
    for (const encoding of ['latin1', 'utf16le'] as const) {
      const file = join(folder, `${encoding}.json`);
      await writeFile(file, '{"a":"query Ñ { __typename }"}', encoding);
      await expect(readTrustedDocuments(file)).rejects.toThrow('The file must be JSON in UTF-8');
    }
  });

  test('can be an Apollo manifest', async () => {
    const file = await fileOf({
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: 'a', name: 'A', type: 'query', body: 'query A { __typename }' }],
    });
    expect([...(await readTrustedDocuments(file))]).toEqual([['a', 'query A { __typename }']]);
  });
});

describe.concurrent('the server start', () => {
  test('fails with a list of the invalid documents of OPERATIONS_FILE', async ({ expect }) => {
    const file = await fileOf({
      good: '{ __typename }',
      'old-board': '{ orders { nodes { trackingCode weight } } }',
      'half-written': 'query {',
    });
    expect(await startWith(file)).toEqual({
      code: 1,
      output: '',
      errors: [
        "OPERATIONS_FILE: 2 of 3 documents can't be run:",
        '  "old-board": Cannot query field "trackingCode" on type "Order". (further errors: 1)',
        '  "half-written": Syntax Error: Expected Name, found <EOF>.',
        '',
      ].join('\n'),
    });
  });

  test.each<[string, unknown, RegExp]>([
    ['is not valid JSON', 'query A { a }', /is not valid JSON\.$/],
    ['is a list', ['{ __typename }'], /The file must map ids to documents, or be an Apollo manifest\.$/],
    ['maps an id to a number', { a: 7 }, /The file must map ids to documents, or be an Apollo manifest\.$/],
  ])('fails if OPERATIONS_FILE %s', async (_what, content, reason) => {
    const file = await fileOf(content);
    const { code, output, errors } = await startWith(file);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors.trimEnd()).toMatch(reason);
    expect(errors).toContain(
      `OPERATIONS_FILE: expected a JSON object that maps ids to documents, but got ${file}. `,
    );
  });

  test('fails if OPERATIONS_FILE does not exist', async ({ expect }) => {
    const { code, errors } = await startWith(join(folder, 'none.json'));
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining('ENOENT') });
  });
});

test('the startup message names OPERATIONS_FILE and no GraphiQL if SCHEMA is private', async () => {
  const file = await fileOf({ a: '{ __typename }' });
  const env = { PORT: '0', UPSTREAM_URL: 'http://127.0.0.1:1', OPERATIONS_FILE: file, SCHEMA: 'private' };
  const cwd = resolve(import.meta.dirname, '../../..');
  const child = spawn(process.execPath, ['src/main.ts'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [banner] = await once(child.stdout, 'data');
    const [endpoint, ...lines] = String(banner).trimEnd().split('\n');
    expect(endpoint).toMatch(/^GraphQL {3}http:\/\/127\.0\.0\.1:\d+\/graphql$/);
    expect(lines).toEqual([
      'REST      the live service at http://127.0.0.1:1/ (does not respond: ECONNREFUSED; the server starts anyway)',
      'Keys      in memory: a restart loses them (see STATE_FILE)',
      `Runs      only the documents of ${file}`,
    ]);
  } finally {
    child.kill('SIGKILL');
  }
});
