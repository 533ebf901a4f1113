import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { type CodeBlock, readPage, sectionOf } from '../../fixtures/markdown.ts';
import { startWaybill } from '../../harness.ts';

// The first screen of docs/api.md. test/docs.test.ts runs its curl command.

const root = resolve(import.meta.dirname, '../../..');
const page = readPage('docs/api.md');
const section = sectionOf(page, 'First request');
const blockWith = (text: string): string =>
  page.codeBlocks.find((block: CodeBlock) => block.text.includes(text))?.text ?? '';

test.each([
  'curl -s http',
  'await fetch(',
  '**CORS**',
  'CORS_ORIGINS=',
  "errorPolicy: 'all'",
  'defaultOptions',
])('the first 50 lines of docs/api.md show %s', (text) => {
  expect(page.text.split('\n').slice(0, 50).join('\n')).toContain(text);
});

test('the fetch call of docs/api.md gets the data that the page shows', async () => {
  await using waybill = await startWaybill();
  const block = blockWith('await fetch(');
  const code = block.replace('http://127.0.0.1:4000/', waybill.url.href);
  expect(code).not.toBe(block);
  const script = `${stripTypeScriptTypes(code)}\nexport { data, errors };`;
  const { data, errors } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
  expect(errors).toBeUndefined();
  const shown = /\/\/ data: (.*)$/m.exec(block)?.[1] ?? '';
  const asJson = shown.replace(/(\w+): /g, '"$1": ').replaceAll("'", '"');
  expect(data).toEqual(JSON.parse(asJson));
});

describe('CORS_ORIGINS as docs/api.md shows it', () => {
  const origins = /`CORS_ORIGINS=(\S+) npm start`/.exec(section)?.[1] ?? '';

  /** The origin that may read the responses to a preflight and to a query of this page. */
  async function allowedOrigins(environment: Record<string, string>, origin: string) {
    await using waybill = await startWaybill(environment);
    const preflight = await waybill.fetch('/graphql', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    const query = await waybill.fetch('/graphql', {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: '{"query":"{ __typename }"}',
    });
    return [preflight, query].map(({ headers }) => headers.get('access-control-allow-origin'));
  }

  test('lets a page of the listed origin call Waybill', async () => {
    expect(origins).toBe('http://localhost:5173');
    const environment = { CORS_ORIGINS: origins };
    expect(await allowedOrigins(environment, origins)).toEqual([origins, origins]);
  });

  test.each([
    ['a page of another origin', { CORS_ORIGINS: origins }, 'http://localhost:4173'],
    ['any page if nothing is listed', {}, origins],
  ])('refuses %s', async (_what, environment, origin) => {
    expect(await allowedOrigins(environment, origin)).toEqual([null, null]);
  });

  test('accepts several origins, separated by commas', async () => {
    const environment = { CORS_ORIGINS: `${origins},https://shop.example` };
    expect(await allowedOrigins(environment, 'https://shop.example')).toEqual(
      Array(2).fill('https://shop.example'),
    );
  });
});

test('docs/api.md names the ports that the code uses', () => {
  const [ofServer, ofSandbox] = [...section.matchAll(/port (\d+)/g)].map(([, port]) => Number(port));
  expect(ofServer).toBe(readConfig({}).port);
  const sandboxMain = readFileSync(join(root, 'src/sandbox/main.ts'), 'utf8');
  expect(sandboxMain).toContain(`port: { ...text, default: '${ofSandbox}' }`);
});

describe('the default options for Apollo Client in docs/api.md', async () => {
  const block = blockWith("declare module '@apollo/client'");
  const { defaultOptions } = await import(
    `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(block))}`
  );
  const use = `
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
export const client = new ApolloClient({
  link: new HttpLink({ uri: 'http://127.0.0.1:4000/graphql' }),
  cache: new InMemoryCache(),
  defaultOptions,
});
`;

  /** What the compiler prints about a program with these options of Waybill's own. */
  function compile(code: string): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'waybill-apollo-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'client.ts'), code);
    const compilerOptions = { lib: ['esnext', 'dom'], types: [] };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['client.ts'] }),
    );
    return new Promise((done) =>
      execFile(join(root, 'node_modules/.bin/tsc'), ['-p', folder], (_error, stdout, stderr) =>
        done(stdout + stderr),
      ),
    );
  }

  test('compile', async () => {
    expect(await compile(block + use)).toBe('');
  });

  test('do not compile without the "declare module" block', async () => {
    const withoutDeclaration = block.replace(/^declare [\s\S]*?^\}\n/m, '');
    expect(withoutDeclaration).not.toContain('declare');
    expect(await compile(withoutDeclaration + use)).toContain(
      'A default option for watchQuery.errorPolicy must be declared',
    );
  });

  const document = gql`query Partial { organization { id } wrongId: order(id: "shipments/a") { id } }`;

  /** The data and the message of the error that Apollo Client gives for a partial result. */
  async function askPartial(options: { defaultOptions?: typeof defaultOptions }) {
    await using waybill = await startWaybill();
    const link = new HttpLink({
      uri: 'http://waybill.test/graphql',
      headers: { authorization: `Bearer ${waybill.sandbox.tokens.first}` },
      fetch: (_uri, init) => waybill.fetch('/graphql', init),
    });
    const client = new ApolloClient({ link, cache: new InMemoryCache(), ...options });
    return await client.query({ query: document }).then(
      ({ data, error }) => ({ data, message: error?.message }),
      (error: Error) => ({ data: undefined, message: error.message }),
    );
  }
  const message = expect.stringContaining('"shipments/a"');

  test('let Apollo Client return the data of a partial result', async () => {
    expect(await askPartial({ defaultOptions })).toEqual({
      data: { organization: expect.objectContaining({ id: expect.any(String) }), wrongId: null },
      message,
    });
  });

  test('are needed, because Apollo Client drops the data of a partial result by default', async () => {
    expect(await askPartial({})).toEqual({ data: undefined, message });
  });
});
