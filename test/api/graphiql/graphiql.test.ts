import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import * as original from '@graphql-yoga/render-graphiql/graphiql';
import { parse, validate } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/graph/schema.ts';
import { readTabs, trustedDocumentTabs } from '../../../src/server/routes/graphiql/tabs.ts';
import { startOffline } from '../../fixtures/start-server.ts';

const server = await startOffline({ graphiqlBearer: 'sandbox-cafe-andino' }, { UPSTREAM_URL: 'sandbox' });
afterAll(() => server[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string>, method = 'GET') =>
  server.fetch(path, { method, headers });
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

async function page(from = server): Promise<string> {
  return (await from.fetch('/graphql', { headers: browser })).text();
}

function optionsIn(html: string) {
  return JSON.parse(/<script id="options" type="application\/json">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
}

async function fileNames(): Promise<Record<string, string>> {
  const names = (await page()).matchAll(/graphiql\/((\w+)-[0-9a-f]{16}\.\w+)/g);
  return Object.fromEntries(Array.from(names, ([, name, role]) => [role, name]));
}

describe('the GraphiQL page', () => {
  test('is sent with Cache-Control: no-store to browsers', async () => {
    const response = await get('/graphql', browser);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      vary: 'accept, accept-encoding',
      'x-content-type-options': 'nosniff',
    });
  });

  test('is the redirect target for browsers that request /', async () => {
    const response = await get('/', browser);
    expect(response.status).toBe(302);
    expect(new URL(response.headers.get('location') ?? '', 'http://waybill.test/').pathname).toBe('/graphql');
  });

  test('loads files only from its own origin', async () => {
    const { headers } = await get('/graphql', browser);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self';");
    expect(policy).not.toMatch(/https?:|\*|script-src[^;]*unsafe|unsafe-eval/);

    const html = await page();
    const scripts = Array.from(html.matchAll(/<script([^>]*)>(.*?)<\/script>/gs));
    expect(scripts).toHaveLength(3);
    for (const [, attributes, content] of scripts) {
      if (!attributes?.includes('application/json')) expect(content).toBe('');
    }
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  test('is not sent to clients that accept JSON', async () => {
    const asked = { accept: 'application/json', 'x-graphql-yoga-csrf': '1' };
    const response = await get(`/graphql?query=${encodeURIComponent('{ __typename }')}`, asked);
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  });

  test('contains the access token of the sandbox, and no token of a live service', async () => {
    expect(optionsIn(await page()).token).toBe('sandbox-cafe-andino');
    await using live = await startOffline();
    expect(optionsIn(await page(live))).not.toHaveProperty('token');
  });

  test('escapes markup in the access token', async () => {
    const bearer = '</script><script>alert(1)</script><!--';
    await using other = await startOffline({ graphiqlBearer: bearer });
    const html = await page(other);
    expect(html).not.toMatch(/<script>|<!--/);
    expect(optionsIn(html).token).toBe(bearer);
  });

  test('has a field for the access token that no browser stores or checks for spelling', async () => {
    const [field = ''] = /<input id="token"[^>]*>/.exec(await page()) ?? [];
    expect(field).toContain('autocomplete="off"');
    expect(field).toContain('spellcheck="false"');
    expect(field).not.toContain(' value=');
  });
});

describe('the GraphiQL files', () => {
  const originals: [role: string, type: string, content: string][] = [
    ['app', 'text/javascript; charset=utf-8', original.js],
    ['style', 'text/css; charset=utf-8', original.css],
    ['editorWorker', 'text/javascript; charset=utf-8', original.editorWorkerService],
    ['graphqlWorker', 'text/javascript; charset=utf-8', original.graphqlWorker],
    ['jsonWorker', 'text/javascript; charset=utf-8', original.jsonWorker],
  ];

  test('are five files of render-graphiql and three of Waybill', async () => {
    const roles = [...originals.map(([role]) => role), 'amendments', 'boot', 'icon'];
    expect(Object.keys(await fileNames()).sort()).toEqual(roles.sort());
  });

  test.each(originals)('have the same text in every content encoding: %s', async (role, type, content) => {
    const name = (await fileNames())[role];
    expect(name).toContain(createHash('sha256').update(content).digest('hex').slice(0, 16));

    const decoders = { gzip: gunzipSync, identity: (bytes: Buffer) => bytes };
    for (const [encoding, decode] of Object.entries(decoders)) {
      const response = await get(`/graphiql/${name}`, { 'accept-encoding': encoding });
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(decode(bytes).toString() === content).toBe(true);
      expect(response.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-length': String(bytes.byteLength),
        'content-type': type,
        vary: 'accept-encoding',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  test('respond to HEAD with the headers of GET and no body', async () => {
    const { app: name } = await fileNames();
    for (const path of ['/graphql', `/graphiql/${name}`]) {
      const headers = { ...browser, 'accept-encoding': 'gzip' };
      const whole = await get(path, headers);
      expect((await whole.text()).length).toBeGreaterThan(1000);
      const head = await get(path, headers, 'HEAD');
      expect(await head.text()).toBe('');
      // Of one connection and of one moment.
      const passing = /^(connection|date|keep-alive|x-request-id)$/;
      const lasting = (from: Response) => [...from.headers].filter(([name]) => !passing.test(name));
      expect(lasting(head)).toEqual(lasting(whole));
    }
  });

  test('are read and compressed only once, at the first request', async () => {
    // The hooks are in force in worker threads too, as these inherit the flag.
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [
      '--import',
      new URL('../../fixtures/trace-graphiql.ts', import.meta.url).href,
      new URL('../../fixtures/ask-for-graphiql.ts', import.meta.url).pathname,
    ]);
    expect(stdout.trim().split('\n')).toEqual([
      'the app answers { __typename }',
      'twenty pages are asked for at once',
      'the package is read',
      // Eight files and the page.
      ...Array(9).fill('something is compressed'),
      'twenty pages are answered',
      'twenty times the same file is asked for at once',
      'twenty files are answered',
    ]);
  });
});

test.each(['nothing.js', 'app-0000000000000000.js', '..%2Fgraphiql.ts', ''])(
  'the response for an unknown GraphiQL file is 404: %j',
  async (name) => {
    const response = await get(`/graphiql/${name}`, browser);
    expect(response.status).toBe(404);
    expect(response.headers.get('cache-control')).toBe('no-store');
  },
);

describe('the GraphiQL tabs', async () => {
  const inSandbox = await readTabs(true);
  const tabs = [...inSandbox, ...(await readTabs(false))];
  const titleOf = (query: string) => /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1];

  test('have ten different operation names', () => {
    expect(inSandbox.map(titleOf)).toEqual([
      'Orders',
      'Order',
      'CreateOrder',
      'ShipOrder',
      'PrintLabels',
      'Conversation',
      'SendMessage',
      'Locations',
      'StuckParcels',
      'Missing',
      'WatchLabel',
    ]);
  });

  test.each(tabs.map((query) => [titleOf(query), query] as const))(
    'are valid against the schema: %s',
    (_title, query) => {
      expect(validate(schema, parse(query))).toEqual([]);
    },
  );

  test('start with a comment on the result and the cost', () => {
    for (const query of inSandbox) expect(query).toMatch(/^# [^\n]+\n(# .*\n)*# Costs /);
  });

  test.each([
    ...inSandbox.map((query) => [titleOf(query), query] as const),
    ['the documents of a list', trustedDocumentTabs(new Map())[0] ?? ''] as const,
  ])('have lines of at most 48 columns: %s', (_title, query) => {
    expect(query.split('\n').filter((line) => line.length > 48)).toEqual([]);
  });
});
