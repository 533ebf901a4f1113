import { setTimeout as pause } from 'node:timers/promises';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { load, percentile, type Question, requestText } from '../load.ts';
import { waybill } from '../peers/servers.ts';
import { startServer } from '../server-process.ts';
import { startSharedDatabase } from './shared-database.ts';
import { askOnce, makeWrite } from './six-writes.ts';

/** A part of the measurement: PostgreSQL works, or hangs. */
export interface HangPart {
  isHanging: boolean;
  queries: number;
  p50Ms: number;
  p99Ms: number;
  /** The number of keyed writes by result. */
  writes: Record<string, number>;
}

const queriesPerSecond = 100;
const writesPerSecond = 5;
const connections = 8;

/**
 * Measures queries while clients send writes with keys: PostgreSQL works for half the time, hangs for the whole time, and
 * works again for half the time.
 */
export async function queryWhileHanging(forMs: number): Promise<HangPart[]> {
  const database = await startSharedDatabase('synchronous', 1);
  const sandbox = await startSandbox();
  const env = { ...waybill.env, STATE_FILE: '', STATE_URL: database.urls[0] ?? '' };
  const server = await startServer({ ...waybill, env }, sandbox.url);
  const body = JSON.stringify({ query: '{ order(id: "ca2481") { id status shipment { status } } }' });
  const headers = ['content-type: application/json'];
  const question: Question = {
    text: requestText({ path: '/graphql', token: sandbox.tokens.first, headers, body }),
  };
  let writeCount = 0;

  async function measure(isHanging: boolean, partMs: number): Promise<HangPart> {
    const writes: Record<string, number> = {};
    let isOver = false;
    async function write(): Promise<void> {
      const pending: Promise<void>[] = [];
      for (; !isOver; await pause(1_000 / writesPerSecond)) {
        writeCount += 1;
        const send = async (number: number) => {
          // A message, which changes nothing that the queries read.
          const made = await makeWrite(sandbox, 3, `h${number}-`);
          const { result } = await askOnce(`http://127.0.0.1:${server.port}`, made, sandbox.tokens.first);
          writes[result] = (writes[result] ?? 0) + 1;
        };
        pending.push(send(writeCount));
      }
      await Promise.all(pending);
    }
    const writing = write();
    const seen = await load({
      ...{ port: server.port, next: () => question, connections },
      ...{ forMs: partMs, ratePerSecond: queriesPerSecond },
    });
    isOver = true;
    await writing;
    return {
      ...{ isHanging, queries: seen.requests, writes },
      ...{ p50Ms: percentile(seen.latenciesMs, 0.5), p99Ms: percentile(seen.latenciesMs, 0.99) },
    };
  }

  try {
    await measure(false, Math.min(forMs / 4, 5_000));
    const before = await measure(false, forMs / 2);
    const hang = database.dropPackets(0, forMs);
    const during = await measure(true, forMs);
    await hang;
    const after = await measure(false, forMs / 2);
    return [before, during, after];
  } finally {
    server.stop();
    await sandbox.close();
    await database.close();
  }
}
