import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/**
 * Measures how long 100 `shipOrder` requests with keys hold the event loop of a server that has a core for itself.
 * @param checkouts the directories of the servers, which take turns.
 * @returns for each server the longest hold of each round, by CPU time in milliseconds.
 * @throws Error if a request has another result than expected.
 */
export async function measureLoopHolds(checkouts: readonly string[], rounds: number): Promise<number[][]> {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-holds-'));
  const sandbox = await startSandbox();
  const servers = await Promise.all(
    checkouts.map(async (checkout, index) => {
      const entry = waybillIn(checkout);
      const env = { LOG_LEVEL: 'silent', STATE_FILE: join(directory, `keys-${index}`) };
      return startServer({ ...entry, env, args: [...probeArguments, ...entry.args] }, sandbox.url, {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
    }),
  );
  const agent = new Agent({ connections: writesAtOnce });
  const holds = checkouts.map((): number[] => []);
  let count = 0;
  const nextWrites = () =>
    Promise.all(
      // Every sixth write is a `shipOrder`.
      Array.from({ length: writesAtOnce }, () => makeWrite(sandbox, 5, `hold-${count++}`)),
    );

  async function send(server: Server, writes: readonly Write[]): Promise<number> {
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
    const other = texts.find((text) => !text.includes('"ShipOrderSuccess"'));
    if (other !== undefined) throw new Error(`shipOrder has another result: ${other}`);
    return (await longestHold(server.process)).cpuMs;
  }

  try {
    for (let round = -warmUpRounds; round < rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        const heldMs = await send(server, await nextWrites());
        if (round >= 0) holds[index]?.push(heldMs);
        await pause(100);
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
