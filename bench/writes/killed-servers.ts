import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RequestEntry } from '../../src/sandbox/http/request-log.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createRandom } from '../../src/sandbox/seed/random.ts';
import { type RestartedServer, startRestarted } from './restarted-server.ts';
import { countShipments, makeWrite, sendOnce, type Write } from './six-writes.ts';

/** What came of the writes of a run. */
export interface RunReport {
  /** The number of writes by mutation and final result, such as `createOrder CreateOrderSuccess`. */
  results: Record<string, number>;
  /** The writes that REST did more than once, or that a success has named although REST did not do them. */
  faults: string[];
  kills: number;
  stops: number;
}

const atOnce = 24;
const maxAttempts = 15;
/** A client repeats an unknown outcome: another request may still be at work on the key. */
const maxUnknown = 4;
/** Longer than an operation of the key store may take. */
const standStillMs = 6_500;

/**
 * Sends writes of six kinds to a server, while it is killed and stands still, responses are lost and tokens end. Each client repeats its request with the same key until it knows the result.
 */
export async function writeThroughKills(seed: number, writeCount: number): Promise<RunReport> {
  const { fraction: random, pick } = createRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), 'waybill-writes-'));
  // A second shipment of an order is not refused, and the order names the first one late.
  const sandbox = await startSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs: 3_000 } });
  const settings = { UPSTREAM_URL: sandbox.url, STATE_FILE: join(directory, 'keys') };
  const server = await startRestarted(settings);
  const tokens = [sandbox.tokens.first, sandbox.tokens.firstRefreshed];
  const posts: RequestEntry[] = [];
  const collectPosts = () => {
    posts.push(...sandbox.requests.entries().filter(({ method }) => method === 'POST'));
    sandbox.requests.clear();
  };
  const report: RunReport = { results: {}, faults: [], kills: 0, stops: 0 };

  let isDone = false;
  async function disturb(): Promise<void> {
    // The first one is a kill, however short the run is.
    for (let kind = 0; !isDone; kind = random()) {
      await pause(500 + random() * 1_500);
      if (kind < 0.5) {
        report.kills += 1;
        await server.restart();
      } else if (kind < 0.65) {
        report.stops += 1;
        await server.standStill(standStillMs);
      } else if (kind < 0.85) {
        sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', times: 2 });
      } else {
        replaceToken(sandbox, tokens);
      }
    }
  }

  const collecting = setInterval(collectPosts, 200);
  const disturbing = disturb();
  const writes: { write: Write; marker: string; result: string }[] = [];
  let next = 0;
  async function client(): Promise<void> {
    while (next < writeCount) {
      const number = next;
      next += 1;
      const marker = `w${seed}-${number}-`;
      const write = await makeWrite(sandbox, number, marker);
      const result = await sendUntilKnown(write, server, () => pick(tokens), random);
      writes.push({ write, marker, result });
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, client));
    isDone = true;
    await disturbing;
    collectPosts();
    const shipments = await countShipments(sandbox);
    for (const { write, marker, result } of writes) {
      const key = `${write.mutation} ${result}`;
      report.results[key] = (report.results[key] ?? 0) + 1;
      const count =
        write.mutation === 'shipOrder'
          ? (shipments.get(String(write.input.order)) ?? 0)
          : posts.filter(({ path, body }) => write.isOwnPost(path, JSON.stringify(body ?? ''))).length;
      if (count > 1) report.faults.push(`${marker}: ${write.mutation} was done ${count} times (${result})`);
      if (count === 0 && result.endsWith('Success'))
        report.faults.push(`${marker}: ${result}, but REST has none`);
    }
    return report;
  } finally {
    isDone = true;
    clearInterval(collecting);
    await disturbing;
    await server.end();
    await sandbox.close();
    rmSync(directory, { recursive: true });
  }
}

/** Ends the older token, and issues the next one. */
function replaceToken(sandbox: Sandbox, tokens: string[]): void {
  const ended = tokens.shift();
  if (ended === undefined) return;
  sandbox.endToken(ended);
  tokens.push(sandbox.issueToken(ended));
}

/** Sends a write with its key until its result is known, or 15 attempts have failed. */
async function sendUntilKnown(
  write: Write,
  server: RestartedServer,
  pickToken: () => string,
  random: () => number,
): Promise<string> {
  let result = 'no response';
  for (let attempt = 0, unknown = 0; attempt < maxAttempts && unknown < maxUnknown; attempt += 1) {
    result = await sendOnce(await server.url(), write, pickToken());
    if (/Success|Conflict|InvalidInput/.test(result)) return result;
    if (result === 'OutcomeUnknown') unknown += 1;
    await pause(100 + random() * 500);
  }
  return result;
}
