import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { newOrder, openSandbox, smallSeed } from '../client.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('a database file keeps its data across a restart', async () => {
  const file = join(folder, 'kept.db');
  const first = await openSandbox({ file });
  const order = (await first.post('/v1/orders', newOrder)).body;
  const { nextPageToken } = (await first.get('/v1/orders?pageSize=1')).body;
  const { labelUrl } = (await first.get('/v1/shipments/ca0001')).body;
  await first.close();

  const second = await openSandbox({
    file,
    seed() {
      throw new Error('A file that holds data must not be seeded');
    },
  });
  expect(second.sandbox.tokens).toEqual(first.sandbox.tokens);
  expect((await second.get(`/v1/${order.name}`)).body).toEqual(order);
  const { body } = await second.get(`/v1/orders?pageSize=1&pageToken=${nextPageToken}`);
  expect(body.orders[0].name).toBe('orders/ca2500');
  expect((await fetch(labelUrl.replace(first.sandbox.url, second.sandbox.url))).status).toBe(200);
  expect((await second.post('/v1/orders', newOrder)).body.name).toBe('orders/ca2502');
  await second.close();
});

test('a sandbox starts with the image of another one, and changes only its own data', async () => {
  const first = await openSandbox({ seed: smallSeed });
  const order = (await first.post('/v1/orders', newOrder)).body;
  const { nextPageToken } = (await first.get('/v1/orders?pageSize=1')).body;
  const second = await startSandbox({
    image: first.sandbox.image(),
    seed() {
      throw new Error('A sandbox with an image must not be seeded');
    },
  });
  const get = (path: string) =>
    fetch(second.url + path, { headers: { authorization: `Bearer ${second.tokens.first}` } });
  expect(second.tokens).toEqual(first.sandbox.tokens);
  expect(await (await get(`/v1/${order.name}`)).json()).toEqual(order);
  const later = (await first.post('/v1/orders', newOrder)).body;
  expect((await get(`/v1/${later.name}`)).status).toBe(404);
  // Each sandbox signs its page tokens with a secret of its own.
  expect((await get(`/v1/orders?pageSize=1&pageToken=${nextPageToken}`)).status).toBe(400);
  await second.close();
  await first.close();
});

test('ended tokens stay rejected after a restart, and the next tokens stay valid', async () => {
  const file = join(folder, 'ended.db');
  const earlier = await startSandbox({ file, seed: smallSeed });
  const { first, firstRefreshed } = earlier.tokens;
  const issued = earlier.issueToken(first);
  earlier.endToken(first);
  earlier.endToken(issued);
  await earlier.close();
  const later = await openSandbox({ file });
  const { tokens } = later.sandbox;
  expect(tokens.first).toBe(firstRefreshed);
  expect([first, firstRefreshed, issued]).not.toContain(tokens.firstRefreshed);
  const status = async (token: string) => (await later.get('/v1/origins', token)).status;
  expect(await Promise.all([first, issued, tokens.first, tokens.firstRefreshed].map(status))).toEqual([
    401, 401, 200, 200,
  ]);
  await later.close();
});

test('a file of version 1 is migrated with its data and tokens', async () => {
  const file = join(folder, 'version-1.db');
  const earlier = await openSandbox({ file, seed: smallSeed });
  const order = (await earlier.post('/v1/orders', newOrder)).body;
  await earlier.close();
  const database = new DatabaseSync(file);
  database.exec(`
    ALTER TABLE merchants RENAME TO later_merchants;
    CREATE TABLE merchants (
      token TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, organization TEXT NOT NULL
    ) STRICT;
    INSERT INTO merchants SELECT token, id, prefix, organization
      FROM later_merchants JOIN tokens ON merchant = id WHERE number = 1 ORDER BY sequence;
    DROP TABLE later_merchants;
    DROP TABLE tokens;
    PRAGMA user_version = 1;
  `);
  database.close();
  for (const _start of [1, 2]) {
    const later = await openSandbox({ file });
    const { tokens } = later.sandbox;
    expect(tokens).toEqual(earlier.sandbox.tokens);
    expect((await later.get(`/v1/${order.name}`, tokens.firstRefreshed)).body).toEqual(order);
    expect((await later.get('/v1/organizations/mine', tokens.second)).body.name).toBe(
      'organization/second-one',
    );
    await later.close();
  }
});

test('a file of a later version is rejected', async () => {
  const file = join(folder, 'later.db');
  await (await startSandbox({ file, seed: smallSeed })).close();
  const database = new DatabaseSync(file);
  database.exec('PRAGMA user_version = 3');
  database.close();
  await expect(startSandbox({ file })).rejects.toThrow(
    'is not a sandbox file of version 2 (its user_version is 3)',
  );
});

test('a file whose seeding failed is seeded again at the next start', async () => {
  const file = join(folder, 'broken-off.db');
  const seed = () => {
    throw new Error('broken off');
  };
  await expect(startSandbox({ file, seed })).rejects.toThrow('broken off');
  const sandbox = await startSandbox({ file, seed: smallSeed });
  expect(sandbox.tokens.first).toBe('token-of-first-one');
  await sandbox.close();
});

test('a file that is not a database is rejected', async () => {
  const file = join(folder, 'letter.txt');
  await writeFile(file, 'Dear reader, this is no database. '.repeat(50));
  await expect(startSandbox({ file })).rejects.toThrow('file is not a database');
});

test('a port in use is reported as EADDRINUSE', async () => {
  const sandbox = await startSandbox({ seed: smallSeed });
  const port = Number(new URL(sandbox.url).port);
  await expect(startSandbox({ port, seed: smallSeed })).rejects.toThrow('EADDRINUSE');
  await sandbox.close();
});

test('the sandbox program serves requests and exits with code 0 on SIGTERM', async () => {
  const main = new URL('../../../src/sandbox/main.ts', import.meta.url).pathname;
  const run = spawn(process.execPath, [main, '--port', '0']);
  const [greeting] = await once(run.stdout, 'data');
  const url = /REST {4}(\S+) /.exec(String(greeting))?.[1];
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
  expect(String(greeting)).toContain(
    'Tokens  sandbox-cafe-andino and sandbox-cafe-andino-2 of one merchant, sandbox-sur-textil of another',
  );
  expect(String(greeting)).toContain(
    `curl -s '${url}/v1/orders?pageSize=3' -H 'authorization: Bearer sandbox-cafe-andino'`,
  );
  expect(String(greeting)).toContain(
    `curl -s -X POST '${url}/sandbox/tokens/end' -H 'authorization: Bearer sandbox-cafe-andino'`,
  );
  run.kill('SIGTERM');
  const [code, signal] = await once(run, 'exit');
  expect([code, signal]).toEqual([0, null]);
});
