import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startTelemetry } from '../../../src/telemetry/telemetry.ts';
import { StoreUnavailableError } from '../../../src/writes/store/key-store.ts';
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/writes/store/sqlite-store.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';

// The log lines and the metric of a store with a problem.

const directory = mkdtempSync(join(tmpdir(), 'waybill-problems-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function start(options: Partial<SqliteStoreOptions>) {
  const { log, lines } = recordedLog('warn');
  const telemetry = await startTelemetry({ metrics: true, tracing: false }, log);
  const file = options.file ?? join(directory, crypto.randomUUID());
  const store = await openSqliteStore({ ...options, file });
  telemetry.watchKeyStore(store);
  const metric = async () => {
    const page = await telemetry.metrics?.page();
    return page?.body.split('\n').filter((line) => line.startsWith('waybill_key_store_problem{'));
  };
  const end = async () => {
    telemetry.endOutages();
    await store.close();
  };
  return { file, store, lines, metric, end };
}

const begin = 'the key store has a problem';
const works = 'the key store works again';
const large = 'x'.repeat(200_000);

/** Moves the clock of this process forward. */
function passTime(ms: number): void {
  const realNow = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + ms);
}

describe('a key store', () => {
  test('causes two log lines and a metric if its disk is full for a while', async () => {
    const { store, lines, metric, end } = await start({ maxPages: 30 });
    expect([lines(), await metric()]).toEqual([[], []]);
    for (let time = 0; time < 3; time += 1)
      await expect(store.noteOrganizationShown(large)).rejects.toThrow(StoreUnavailableError);
    const problem = 'The disk of the key store is full. Free some space.';
    expect(lines()).toEqual([{ level: 'warn', kind: 'failure', problem, msg: begin }]);
    expect(await metric()).toEqual(['waybill_key_store_problem{kind="failure"} 1']);
    await store.noteOrganizationShown('small');
    passTime(10_000);
    await expect.poll(() => lines().map(({ msg }) => msg)).toEqual([begin, works]);
    expect(lines()[1]).toMatchObject({
      kind: 'failure',
      since: expect.any(String),
      seconds: expect.any(Number),
    });
    expect(await metric()).toEqual([]);
    await end();
    expect(lines()).toHaveLength(2);
  });

  test('causes two log lines and a metric if it does not respond in time', async () => {
    const { store, lines, metric, end } = await start({ timeoutMs: 0 });
    for (let time = 0; time < 3; time += 1)
      await expect(store.noteOrganizationShown('a')).rejects.toThrow(StoreUnavailableError);
    const problem = 'The key store did not respond within 0 ms. Check its disk.';
    await expect.poll(lines).toEqual([{ level: 'warn', kind: 'failure', problem, msg: begin }]);
    expect(await metric()).toEqual(['waybill_key_store_problem{kind="failure"} 1']);
    await expect.poll(() => store.failure()).toBeUndefined();
    passTime(10_000);
    await expect.poll(() => lines().map(({ msg }) => msg)).toEqual([begin, works]);
    await end();
    expect(lines()).toHaveLength(2);
  });

  test('causes two log lines and a metric if another process uses its file for a while', async () => {
    const { file, store: first, end: endFirst } = await start({});
    const { store, lines, metric, end } = await start({ file });
    expect(lines()).toMatchObject([{ level: 'warn', kind: 'failure', problem: store.failure(), msg: begin }]);
    expect(lines()[0]?.problem).toMatch(/^Another process uses the file of the key store\. /);
    expect(await metric()).toEqual(['waybill_key_store_problem{kind="failure"} 1']);
    await first.close();
    await expect.poll(() => store.failure()).toBeUndefined();
    passTime(10_000);
    await expect.poll(() => lines().map(({ msg }) => msg)).toEqual([begin, works]);
    await Promise.all([end(), endFirst()]);
  });

  test('causes two log lines and a metric if its file is deleted', async () => {
    const { file, lines, metric, end } = await start({});
    rmSync(file);
    await expect.poll(lines).toMatchObject([{ kind: 'file', msg: begin }]);
    expect(lines()[0]?.problem).toMatch(/^The file of STATE_FILE was deleted or replaced/);
    expect(await metric()).toEqual(['waybill_key_store_problem{kind="file"} 1']);
    await end();
    expect(lines()[1]).toMatchObject({ kind: 'file', msg: works, atShutdown: true });
  });

  test('logs a failover only once, even if it reports the failover three times', async () => {
    const { log, lines } = recordedLog('warn');
    const telemetry = await startTelemetry({ metrics: true, tracing: false }, log);
    let failover: string | undefined;
    let report = () => {};
    telemetry.watchKeyStore({
      failure: () => undefined,
      fileProblem: () => undefined,
      failover: () => failover,
      onReport(listener) {
        report = listener;
      },
    });
    report();
    failover = 'PostgreSQL has failed over.';
    for (let times = 0; times < 3; times += 1) report();
    telemetry.endOutages();
    expect(lines()).toEqual([{ level: 'warn', problem: failover, msg: 'the key store has failed over' }]);
  });
});
