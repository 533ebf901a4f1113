import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examine, type Report } from '../../src/doctor/examine.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { startMain } from '../fixtures/main-process.ts';
import { answerJson, startService } from '../fixtures/rest-service.ts';
import { smallSeed } from '../sandbox/client.ts';

const parameterNames = { pageSize: 'perPage', pageToken: 'nextPageToken', query: 'searchText' };
let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-doctor-'));
  sandbox = await startSandbox({ seed: smallSeed, quirks: { parameterNames } });
});
const running = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const inFolder = (name: string) => join(folder, name);

/** Runs the doctor with this token in the environment, or with `input` on standard input. */
async function doctor(
  args: readonly string[],
  token = sandbox.tokens.first,
  input = '',
  environment: Record<string, string> = {},
) {
  const child = spawn(process.execPath, ['src/doctor/main.ts', ...args], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { WAYBILL_TOKEN: token, ...environment },
  });
  running.add(child);
  child.stdin.end(input);
  const [output, errors, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((done) => child.once('close', done)),
  ]);
  running.delete(child);
  return { code, output, errors };
}

describe.concurrent('the doctor', () => {
  test('writes an env file with which the server starts', async () => {
    const file = inFolder('live.env');
    const { code, output, errors } = await doctor(['--url', sandbox.url, '--write', file]);
    expect([code, output]).toEqual([0, expect.stringContaining('Waybill can use this service.')]);
    expect(output).toMatch(/^✓ page size {2,}The name is perPage, as the returned rows prove\.$/m);
    expect(output).toMatch(/^\? status filter .*\n {2,}→ Waybill uses the default name/m);
    expect(errors).toMatch(/^ 1 GET \/v1\/orders$/m);
    const lines = readFileSync(file, 'utf8').split('\n').slice(1, -1);
    expect(lines).toEqual([
      `UPSTREAM_URL=${sandbox.url}`,
      'PAGE_SIZE_PARAMETER=perPage',
      'PAGE_TOKEN_PARAMETER=nextPageToken',
      'QUERY_PARAMETER=searchText',
    ]);
    const server = startMain(Object.fromEntries(lines.map((line) => line.split('='))));
    expect(await server.banner()).toContain(`the live service at ${sandbox.url}/ (responds)`);
    server.signal('SIGTERM');
    expect(await server.exit).toMatchObject({ code: 0 });
  });

  test('compares its report with the JSON report of an earlier run', async () => {
    const file = inFolder('baseline.json');
    const url = new URL(sandbox.url);
    const before = await examine({ url, token: sandbox.tokens.first, spacingMs: 0 });
    // As npm run without --silent writes it.
    writeFileSync(file, `\n> waybill@0.1.0 doctor\n\n${JSON.stringify(before)}`);
    sandbox.faults.add({ kind: 'quirks', quirks: { lastPageToken: 'null' } });
    const args = ['--url', sandbox.url, '--json', '--baseline', file];
    const { code, output } = await doctor(args, '', `${sandbox.tokens.first}\n`);
    const { isUsable, settings, findings }: Report = JSON.parse(output);
    expect([code, isUsable]).toEqual([1, false]);
    expect(settings).toMatchObject({ UPSTREAM_URL: sandbox.url, QUERY_PARAMETER: 'searchText' });
    expect(findings.filter(({ mark }) => mark === 'failure')).toMatchObject([
      {
        check: 'baseline',
        cause:
          'last page: The nextPageToken of the last page is "". Now: The nextPageToken of the last page is null.',
      },
    ]);
  });
});

test.concurrent.each([
  ['an address with a password', 'https://me:secret-word@api.example.com'],
  ['a closed port', 'http://127.0.0.1:9'],
])('the doctor prints no stack trace and exits with code 1: %s', async (_name, address) => {
  const { code, output, errors } = await doctor(['--url', address]);
  expect(code).toBe(1);
  expect(output + errors).toContain('expected');
  expect(output + errors).not.toMatch(/\n {4}at |secret-word/);
});

test.concurrent('the doctor writes no file for a service that is not usable', async () => {
  const file = inFolder('none.env');
  const { code, output } = await doctor(['--url', sandbox.url, '--write', file], 'unknown-token');
  expect([code, output]).toEqual([1, expect.stringContaining('✗ access token')]);
  expect(() => readFileSync(file)).toThrow('ENOENT');
});

const unreachable = 'postgres://shop:secret-word@127.0.0.1:9/shop';

describe.concurrent('the key store', () => {
  test.each([
    ['STATE_URL', [], { STATE_URL: unreachable }],
    ['--state-url', ['--state-url', unreachable], {}],
    [
      '--state-url, which wins over STATE_URL',
      ['--state-url', unreachable],
      { STATE_URL: 'mysql://host/shop' },
    ],
  ])('is examined without a service and without a token: %s', async (_name, args, environment) => {
    const { code, output, errors } = await doctor(args, '', '', environment);
    expect([code, errors]).toEqual([1, '']);
    expect(
      output,
    ).toBe(`✗ store: connection  The doctor cannot use schema waybill of postgres://127.0.0.1:9/shop as shop.
                     → PostgreSQL cannot be reached (ECONNREFUSED). Check the server and its network.

Waybill cannot use this store.
`);
  });

  test('is examined after the service', async () => {
    const { code, output } = await doctor(['--url', sandbox.url, '--state-url', unreachable]);
    expect(code).toBe(1);
    expect(output).toMatch(/^✓ address .*[\s\S]*^✗ store: connection /m);
    expect(output).toContain('\nWaybill cannot use this service and this store. The doctor sent ');
  });

  test('has a password that no message shows', async () => {
    const { code, output, errors } = await doctor(['--state-url', 'mysql://shop:secret-word@host/shop'], '');
    expect([code, output]).toEqual([1, '']);
    expect(errors).toContain('STATE_URL: expected a URL such as postgres://');
    expect(errors).not.toContain('secret-word');
  });
});

describe.concurrent('incorrect use of the doctor', () => {
  test.each([
    ['no address', [], 'Expected --url with the address of the REST service, or --state-url with '],
    [
      'a settings file without a service',
      ['--state-url', unreachable, '--write', 'x'],
      '--write: expected --url',
    ],
    ['an unknown option', ['--token', 'secret-word'], 'Unknown option --token.\nUsage: npm run doctor'],
    ['an access token as an option', ['--secret-word-of-26-letters'], 'Unknown option.\nUsage: '],
    ['a swapped letter', ['--ulr', 'x'], 'Unknown option --ulr; did you mean --url?\nUsage: '],
    ['a missing letter', ['--baselin', 'x'], 'Unknown option --baselin; did you mean --baseline?\n'],
    ['an additional letter', ['--jsons'], 'Unknown option --jsons; did you mean --json?\n'],
    ['capital letters', ['--URL', 'x'], 'Unknown option --URL; did you mean --url?\n'],
    ['an unknown short option', ['-u', 'x'], 'Unknown option -u.\n'],
    ['a name that every object has', ['--constructor'], 'Unknown option --constructor.\n'],
    ['a value without its option', ['secret-word'], 'Expected only options, which begin with --, but got '],
    ['an option without its value', ['--url'], '--url: expected a value after it.\n'],
    ['an option in place of a value', ['--url', '--json'], '--url: expected a value after it.\n'],
    ['a value for an option that takes no value', ['--json=yes'], '--json: expected no value.\n'],
    [
      'an output file that already exists',
      ['--url', 'http://127.0.0.1:9', '--write', 'package.json'],
      '--write: expected',
    ],
    [
      'a baseline that is not a report',
      ['--url', 'http://127.0.0.1:9', '--baseline', 'package.json'],
      '--baseline: expected',
    ],
  ])('causes exit code 2: %s', async (_name, args, message) => {
    const { code, output, errors } = await doctor(args);
    expect([code, output, errors]).toEqual([2, '', expect.stringContaining(message)]);
    expect(errors).not.toMatch(/secret-word|\n {4}at /);
  });

  test.each(['', 'Bearer abc', 'abc caf\u00e9', 'a'.repeat(8_193).replace('aaa', 'abc')])(
    'causes exit code 2: the token "%s"',
    async (token) => {
      const { code, errors } = await doctor(['--url', 'http://127.0.0.1:9'], '', token);
      const expected =
        'expected an access token without "Bearer", of 1 to 8192 visible ASCII characters without blanks.\n';
      expect([code, errors]).toEqual([2, expect.stringContaining(expected)]);
      expect(errors).not.toContain('abc');
    },
  );
});

test.concurrent.each([[['--help']], [['-h']], [['--ulr', 'x', '--help']]])(
  'the doctor prints its options and exits with code 0: %j',
  async (args) => {
    const { code, output, errors } = await doctor(args, '');
    expect([code, errors]).toEqual([0, '']);
    const names = [...output.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name]) => name);
    expect(names).toEqual([
      '--url',
      '--state-url',
      '--json',
      '--write',
      '--baseline',
      '--conversation',
      '--help',
    ]);
  },
);

test.concurrent.each(['12|AbCdEfGhIjKl', 'ab+/8w==', 'user:secret', '"abcdefgh"'])(
  'the doctor sends an access token of any form, and never prints the token: %s',
  async (token) => {
    await using service = await startService((request, response, body) => {
      const isKnown = request.headers.authorization === `Bearer ${token}`;
      answerJson(isKnown ? { orders: [], nextPageToken: '' } : {}, isKnown ? 200 : 401)(
        request,
        response,
        body,
      );
    }, true);
    const { output, errors } = await doctor(['--url', service.url.href], token);
    expect(output).toMatch(/^✓ access token {2,}The token is accepted/m);
    expect(output + errors).not.toContain(token);
  },
);
