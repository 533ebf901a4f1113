import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { longestHold, probeArguments } from '../fairness/held-loop.ts';
import { waybillIn } from '../peers/servers.ts';
import { type Server, startServer } from '../server-process.ts';
import { makeWrite, type Write } from './six-writes.ts';

const writesAtOnce = 100;
/** The first rounds compile the code. */
const warmUpRounds = 3;

/** The longest holds of the event loop by CPU time in milliseconds, one for each round. */
export interface LoopHolds {
  /** While 100 requests with keys ship an order each. */
  requestsMs: number[];
  /** While the same 100 requests cannot store their keys, as another process stands still inside a transaction. */
  lockedStoreMs: number[];
}

/**
 * Measures how long 100 `shipOrder` requests with keys hold the event loop of a server that has a core for itself.
 * @param checkouts the directories of the servers, which take turns.
 * @throws Error if a request has another result than expected.
 */
export async function measureLoopHolds(checkouts: readonly string[], rounds: number): Promise<LoopHolds[]> {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-holds-'));
  const sandbox = await startSandbox();
  const files = checkouts.map((_, index) => join(directory, `keys-${index}`));
  const servers = await Promise.all(
    checkouts.map(async (checkout, index) => {
      const entry = waybillIn(checkout);
      const env = { LOG_LEVEL: 'silent', STATE_FILE: files[index] ?? '' };
      return startServer({ ...entry, env, args: [...probeArguments, ...entry.args] }, sandbox.url, {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
    }),
  );
  const agent = new Agent({ connections: writesAtOnce });
  const holds = checkouts.map((): LoopHolds => ({ requestsMs: [], lockedStoreMs: [] }));
  let count = 0;
  const nextWrites = () =>
    Promise.all(
      // Every sixth write is a `shipOrder`.
      Array.from({ length: writesAtOnce }, () => makeWrite(sandbox, 5, `hold-${count++}`)),
    );

  async function send(server: Server, writes: readonly Write[], expected: RegExp): Promise<number> {
    await longestHold(server.process);
    const texts = await Promise.all(
      writes.map(async ({ document, input }) => {
        const { body } = await request(`http://127.0.0.1:${server.port}/graphql`, {
          dispatcher: agent,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${sandbox.tokens.first}`,
          },
          body: JSON.stringify({ query: document, variables: { input } }),
        });
        return body.text();
      }),
    );
    const other = texts.find((text) => !expected.test(text));
    if (other !== undefined) throw new Error(`shipOrder has another result: ${other}`);
    return (await longestHold(server.process)).cpuMs;
  }

  try {
    for (let round = -warmUpRounds; round < rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        const heldMs = await send(server, await nextWrites(), /"ShipOrderSuccess"/);
        if (round >= 0) holds[index]?.requestsMs.push(heldMs);
        await pause(100);
      }
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        const writes = await nextWrites();
        const database = new DatabaseSync(files[index] ?? '', { timeout: 5_000 });
        database.exec('BEGIN IMMEDIATE');
        holds[index]?.lockedStoreMs.push(await send(server, writes, /"OVERLOADED"/));
        database.close();
      }
    }
  } finally {
    for (const server of servers) server.stop();
    await agent.destroy();
    await sandbox.close();
    rmSync(directory, { recursive: true });
  }
  return holds;
}
