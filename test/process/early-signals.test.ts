import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startMain } from '../fixtures/main-process.ts';
import { startService, until } from '../fixtures/rest-service.ts';
import { startCommand } from '../fixtures/shell-command.ts';

const slow = { timeout: 100_000 };

/** An option of Node: the process sends a signal when it begins to load `file`. Older Nodes, such as npm's, ignore it. */
function signalAt(file: string, signal: NodeJS.Signals): string {
  const code = `
    import * as module from 'node:module';
    module.registerHooks?.({
      load(url, context, next) {
        if (url.endsWith('/src/${file}')) process.kill(process.pid, '${signal}');
        return next(url, context);
      },
    });`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

const ended = { code: 0, signal: null, errors: '' };

describe.concurrent('a signal before the server listens', slow, () => {
  test.each<[string, NodeJS.Signals, Record<string, string>]>([
    ['main.ts', 'SIGTERM', {}],
    ['config/config.ts', 'SIGTERM', {}],
    ['config/config.ts', 'SIGINT', {}],
    ['server/create-app.ts', 'SIGTERM', {}],
    ['sandbox/sandbox.ts', 'SIGTERM', {}],
    ['sandbox/sandbox.ts', 'SIGINT', {}],
    ['server/create-app.ts', 'SIGTERM', { UPSTREAM_URL: 'http://127.0.0.1:1' }],
    ['process/serve.ts', 'SIGTERM', {}],
  ])('ends the process with code 0 and no output: %s, %s, %j', async (file, signal, environment) => {
    const main = startMain(environment, [signalAt(file, signal)]);
    expect(await main.exit).toEqual(ended);
    expect(main.output()).toBe('');
  });

  test('ends npm start', async () => {
    const command = startCommand('exec npm start --silent', resolve(import.meta.dirname, '../..'), {
      PORT: '0',
      NODE_OPTIONS: signalAt('sandbox/sandbox.ts', 'SIGTERM'),
    });
    expect(await command.exit).toEqual({ code: 0, output: '', errors: '' });
  });
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the process while the start waits for the REST service',
  slow,
  async (signal) => {
    let isAsked = false;
    await using service = await startService(() => {
      isAsked = true;
    }, true);
    const main = startMain({ UPSTREAM_URL: service.url.href });
    await until(() => isAsked);
    main.signal(signal);
    expect(await main.exit).toEqual(ended);
    expect(service.lines()).toEqual(['GET /v1/orders']);
  },
);
