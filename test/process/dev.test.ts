import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { utimesSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../fixtures/rest-service.ts';

const root = resolve(import.meta.dirname, '../..');

test('npm run dev restarts the server immediately after a file change', { timeout: 100_000 }, async () => {
  const child = spawn('npm', ['run', 'dev'], {
    cwd: root,
    env: { ...process.env, PORT: '0', STATE_FILE: 'memory' },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  let changes: NodeJS.Timeout | undefined;
  try {
    const url = () => /http:\/\/127\.0\.0\.1:\d+(?=\/graphql)/.exec(output)?.[0];
    await until(() => output.includes(" -d '"));
    const before = url();
    // A connection that stays open, as a browser keeps one.
    expect((await fetch(`${before}/health/live`)).status).toBe(200);
    output = '';
    // Node watches the files from a moment after the start, and misses a change before that.
    const change = () => {
      const now = new Date();
      if (!output.includes('Restarting')) utimesSync(resolve(root, 'src/process/banner.ts'), now, now);
    };
    change();
    changes = setInterval(change, 1_000);
    await until(() => output.includes(" -d '"));
    expect((await fetch(`${url()}/health/live`)).status).toBe(200);
    const ends = output.split('\n').filter((line) => line.includes('"the server has shut down"'));
    expect(ends.map((line) => JSON.parse(line))).toMatchObject([{ seconds: 0 }]);
  } finally {
    clearInterval(changes);
    // The group of npm, the watcher and the server.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await once(child, 'exit');
  }
});
