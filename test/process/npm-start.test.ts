import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { answerJson, startService, until } from '../fixtures/rest-service.ts';

const started = new Set<ChildProcess>();
afterAll(() => {
  // Each leads a group of its own, in which a server would go on that npm has left behind.
  for (const { pid } of started) {
    try {
      process.kill(-Number(pid), 'SIGKILL');
    } catch {
      // As it should be: nobody is left.
    }
  }
});

describe('npm start', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('passes %s on', async (signal) => {
    let answer = () => {};
    await using service = await startService((request, response, body) => {
      answer = () => answerJson({ name: 'orders/a' })(request, response, body);
    });
    const npm = spawn('npm', ['start'], {
      cwd: resolve(import.meta.dirname, '../..'),
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        LOG_LEVEL: 'silent',
        DRAIN_WAIT_MS: '0',
        UPSTREAM_URL: service.url.href,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    started.add(npm);
    let output = '';
    npm.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const exit = once(npm, 'exit');
    await until(() => output.includes(" -d '"), 20_000);
    const url = new URL(/http:\/\/[^/]+/.exec(output)?.[0] ?? '');
    const asked = fetch(new URL('/graphql', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' },
      body: JSON.stringify({ query: '{ order(id: "a") { id } }' }),
    });
    await until(() => service.requests.length === 1);
    npm.kill(signal);
    const live = () =>
      fetch(new URL('/health/live', url)).then(
        () => 'live',
        () => 'gone',
      );
    await expect.poll(live).toBe('gone');
    answer();
    expect(await (await asked).json()).toEqual({ data: { order: { id: 'orders/a' } } });
    expect(await exit).toEqual([0, null]);
    expect(() => process.kill(-Number(npm.pid), 0)).toThrow('ESRCH');
  });
});
