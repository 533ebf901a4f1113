import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

/** Runs the program of the sandbox to its end. */
async function runSandbox(...args: string[]) {
  const main = new URL('../../src/sandbox/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, ...args]);
  const closed = once(child, 'close');
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, output, errors };
}

test.concurrent.each([['--help'], ['-h']])(
  'the sandbox prints its options and exits with code 0: %s',
  async (arg) => {
    const { code, output, errors } = await runSandbox(arg);
    expect([code, errors]).toEqual([0, '']);
    const names = [...output.matchAll(/^ {2}(--\w+)/gm)].map(([, name]) => name);
    expect(names).toEqual(['--port', '--host', '--quirks', '--file', '--help']);
  },
);

test.concurrent.each([
  ['an unknown option', ['--prot', '4002'], "Unknown option '--prot'.\nUsage: "],
  ['an option without its value', ['--port'], "Option '--port <value>' argument missing.\nUsage: "],
  ['another argument', ['4002'], "Unexpected argument '4002'.\nUsage: "],
  ['a port that is no number', ['--port', 'x'], '--port: expected a port from 0 to 65535, but got "x".\n'],
  ['an unknown quirk', ['--quirks', '{"a":1}'], '--quirks: expected JSON with some of '],
  [
    'a host of another machine',
    ['--port', '0', '--host', '192.0.2.1'],
    '--host: "192.0.2.1" is not an address of ',
  ],
  ['a file that is no database', ['--file', 'package.json'], '--file: the sandbox cannot use package.json. '],
])('the sandbox prints one sentence and exits with code 2: %s', async (_what, args, message) => {
  const { code, output, errors } = await runSandbox(...args);
  expect([code, output, errors]).toEqual([2, '', expect.stringContaining(message)]);
  expect(errors).not.toContain('    at ');
});

test.concurrent('the sandbox reports a port that is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  try {
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { code, errors } = await runSandbox('--port', `${port}`);
    expect([code, errors]).toEqual([
      2,
      `--port: port ${port} of 127.0.0.1 is in use. Use another port, or 0.\n`,
    ]);
  } finally {
    other.close();
  }
});
