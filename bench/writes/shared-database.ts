import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Postgres, startPostgres } from '../../test/fixtures/postgres.ts';
import { makeParentFolder, parentFolder } from '../../test/fixtures/postgres-programs.ts';
import { startRelay } from '../../test/fixtures/tcp-relay.ts';

/** The kind of standby: `synchronous` confirms each commit, and `asynchronous` may lack the last ones. */
export type Standby = 'synchronous' | 'asynchronous';

/** A PostgreSQL primary with one standby, in front of which each server has a network of its own. */
export interface SharedDatabase {
  /** The STATE_URL of each server. */
  urls: string[];
  /** Kills the primary with signal 9, and makes the standby the primary. A new standby then starts. */
  failOver(): Promise<void>;
  /** Lets the standby stand still, and cancels the commits that wait for it. @returns how many */
  cancelWaits(forMs: number): Promise<number>;
  /** Drops all packets between one server and PostgreSQL. */
  dropPackets(server: number, forMs: number): Promise<void>;
  /** Makes the primary read-only. */
  refuseWrites(forMs: number): Promise<void>;
  close(): Promise<void>;
}

/** So much of the log an asynchronous standby lacks at a failover. */
const lagMs = 700;

/** Starts PostgreSQL with a default of `synchronous_commit = off`, which the servers must not depend on. */
export async function startSharedDatabase(
  standbyKind: Standby,
  serverCount: number,
): Promise<SharedDatabase> {
  const removeFolder = makeParentFolder();
  const folder = parentFolder();
  const running = new Set<Postgres>();
  // A signal ends this program without `close`.
  const endAll = () => {
    for (const server of running) server.signal('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', endAll);
  const first = await startPostgres();
  running.add(first);
  let primary = first;
  await set(primary, "synchronous_commit = 'off'");
  const networks = await Promise.all(Array.from({ length: serverCount }, () => startRelay(primary.port)));
  let link = await startRelay(primary.port);
  let standby = await startStandby();

  async function startStandby(): Promise<Postgres> {
    const next = await primary.startStandby();
    running.add(next);
    if (standbyKind === 'synchronous') return next;
    await set(primary, "synchronous_standby_names = ''");
    link.leadTo(primary.port);
    await set(next, `primary_conninfo = 'host=127.0.0.1 port=${link.port} user=postgres'`);
    const isLinked = async () => (await next.sql('SELECT FROM pg_stat_wal_receiver')).length > 0;
    while (link.connections() === 0 || !(await isLinked())) await pause(50);
    return next;
  }

  return {
    urls: networks.map(({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`),
    async failOver() {
      if (standbyKind === 'asynchronous') {
        link.stop();
        await pause(lagMs);
      }
      await primary.kill();
      running.delete(primary);
      // What the link has kept is lost.
      await link.close();
      await standby.promote();
      for (const network of networks) network.leadTo(standby.port);
      primary = standby;
      link = await startRelay(primary.port);
      standby = await startStandby();
    },
    async cancelWaits(forMs) {
      let count = 0;
      standby.signal('SIGSTOP');
      for (const untilMs = performance.now() + forMs; performance.now() < untilMs; await pause(50)) {
        const cancelled = await primary.sql(
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
        );
        count += cancelled.length;
      }
      standby.signal('SIGCONT');
      return count;
    },
    async dropPackets(server, forMs) {
      networks[server]?.stop();
      await pause(forMs);
      networks[server]?.resume();
    },
    async refuseWrites(forMs) {
      await set(primary, 'default_transaction_read_only = on');
      await pause(forMs);
      await set(primary, 'default_transaction_read_only = off');
    },
    async close() {
      for (const relay of [...networks, link]) await relay.close();
      standby.signal('SIGCONT');
      await first.close();
      await removeFolder();
      process.off('exit', endAll);
    },
  };
}

async function set(server: Postgres, setting: string): Promise<void> {
  await server.sql(`ALTER SYSTEM SET ${setting}`);
  await server.sql('SELECT pg_reload_conf()');
}
