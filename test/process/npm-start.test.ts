import { once } from 'node:events';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerJson, startService, until } from '../fixtures/rest-service.ts';
import { startCommand } from '../fixtures/shell-command.ts';

const root = resolve(import.meta.dirname, '../..');

describe('npm start', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('forwards %s to the server', async (signal) => {
    let answer = () => {};
    await using service = await startService((request, response, body) => {
      answer = () => answerJson({ name: 'orders/a' })(request, response, body);
    });
    // With `exec`, the process that gets the signal is npm itself.
    const { child: npm, prints } = startCommand('exec npm start', root, {
      PORT: '0',
      LOG_LEVEL: 'silent',
      UPSTREAM_URL: service.url.href,
    });
    const exit = once(npm, 'exit');
    const output = await prints(" -d '");
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
