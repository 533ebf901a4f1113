import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { startRestarted } from './restarted-server.ts';
import { countShipments, makeWrite, sendOnce, type Write } from './six-writes.ts';

/** A moment in a write: one of its calls has reached REST and gets no response. */
export interface Checkpoint {
  mutation: string;
  method: 'GET' | 'POST';
  path: RegExp;
  /** Whether REST does the held call. */
  isApplied: boolean;
}

/** What happens to the server at a checkpoint, before the same request with the same key and a new token. */
export type Disturbance = 'kill' | 'kill, clock +1 h' | 'kill, clock -1 h' | 'stand still';

const organization = { method: 'GET', path: /\/organizations\/mine$/ } as const;
const posts: Record<string, RegExp> = {
  createOrder: /\/orders$/,
  createQuote: /\/quotes$/,
  createShipment: /\/shipments$/,
  sendMessage: /\/messages$/,
  sendMessageToPhone: /\/messages$/,
  shipOrder: /\/shipments$/,
};

/** The checkpoints of all six mutations. */
export const checkpoints: readonly Checkpoint[] = [
  ...Object.keys(posts).map((mutation) => ({ mutation, ...organization, isApplied: false })),
  { mutation: 'shipOrder', method: 'GET', path: /\/orders\/[^/]+$/, isApplied: false },
  { mutation: 'shipOrder', method: 'GET', path: /\/origins$/, isApplied: false },
  ...[false, true].map(
    (isApplied) => ({ mutation: 'shipOrder', method: 'POST', path: /\/quotes$/, isApplied }) as const,
  ),
  ...Object.entries(posts).flatMap(([mutation, path]) =>
    [false, true].map((isApplied) => ({ mutation, method: 'POST', path, isApplied }) as const),
  ),
];

/** The result of the repeated request, and how often REST did the write. */
export interface Outcome {
  result: string;
  count: number;
}

export const disturbances: readonly Disturbance[] = [
  'kill',
  'kill, clock +1 h',
  'kill, clock -1 h',
  'stand still',
];

const clockOffsetsMs: Record<Disturbance, number> = {
  kill: 0,
  'kill, clock +1 h': 3_600_000,
  'kill, clock -1 h': -3_600_000,
  'stand still': 0,
};
const numberOf = [
  'createOrder',
  'createQuote',
  'createShipment',
  'sendMessage',
  'sendMessageToPhone',
  'shipOrder',
];
/** Longer than an operation of the key store may take, and short enough for the operation to go on afterwards. */
const standStillMs = 7_000;

/** Disturbs a server at a checkpoint, and sends the same request again with the same key and another token. */
export async function disturbAt(checkpoint: Checkpoint, disturbance: Disturbance): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-checkpoint-'));
  const sandbox = await startSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs: 3_000 } });
  const settings = {
    UPSTREAM_URL: sandbox.url,
    STATE_FILE: join(directory, 'keys'),
    UPSTREAM_TIMEOUT_MS: '20000',
  };
  const server = await startRestarted(settings);
  try {
    const write = await makeWrite(sandbox, numberOf.indexOf(checkpoint.mutation), 'write-1');
    const remove = holdCall(sandbox, checkpoint);
    sandbox.requests.clear();
    const lost = sendOnce(await server.url(), write, sandbox.tokens.first);
    await untilHeld(sandbox, checkpoint);
    remove();
    const disturbed =
      disturbance === 'stand still'
        ? server.standStill(standStillMs)
        : server.restart({ ...settings, ...shiftedClock(clockOffsetsMs[disturbance]) });
    const result = await sendUntilKnown(await server.url(), write, sandbox.tokens.firstRefreshed);
    await disturbed;
    await lost;
    return { result, count: await countWrites(sandbox, write) };
  } finally {
    await server.end();
    await sandbox.close();
    rmSync(directory, { recursive: true });
  }
}

/** Lets a call wait for its response: without being applied, or with a body that comes one byte in three seconds. */
function holdCall(sandbox: Sandbox, { method, path, isApplied }: Checkpoint): () => void {
  return isApplied
    ? sandbox.faults.add({ kind: 'drip', bytes: 1, everyMs: 3_000, method, path, times: 1 })
    : sandbox.faults.add({ kind: 'hang', method, path, times: 1 });
}

async function untilHeld(sandbox: Sandbox, { method, path }: Checkpoint): Promise<void> {
  const isHeld = () =>
    sandbox.requests.entries().some((entry) => entry.method === method && path.test(entry.path));
  for (let waitedMs = 0; !isHeld(); waitedMs += 20) {
    if (waitedMs > 20_000) throw new Error(`Expected ${method} ${path}, but it never came`);
    await pause(20);
  }
  // The sandbox applies the call after it has noted the call.
  await pause(200);
}

/** Repeats the request until it has a result. An unknown outcome is the result after three of them. */
async function sendUntilKnown(url: string, write: Write, token: string): Promise<string> {
  let result = 'no response';
  for (let attempt = 0, unknown = 0; attempt < 20 && unknown < 3; attempt += 1) {
    result = await sendOnce(url, write, token);
    if (result.endsWith('Success')) return result;
    if (result === 'OutcomeUnknown') unknown += 1;
    await pause(500);
  }
  return result;
}

/** The number of writes that REST has done: shipments of the order, or POSTs that were not left hanging. */
async function countWrites(sandbox: Sandbox, { mutation, input, isOwnPost }: Write): Promise<number> {
  if (mutation === 'shipOrder') return (await countShipments(sandbox)).get(String(input.order)) ?? 0;
  return sandbox.requests
    .entries()
    .filter(({ path, body, status }) => status !== undefined && isOwnPost(path, JSON.stringify(body ?? '')))
    .length;
}

/** Node options that shift the wall clock of a process. */
function shiftedClock(offsetMs: number): Record<string, string> {
  if (offsetMs === 0) return {};
  const code = `const { now } = Date; Date.now = () => now() + ${offsetMs};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
