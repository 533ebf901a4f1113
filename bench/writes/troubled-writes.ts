import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createRandom } from '../../src/sandbox/seed/random.ts';
import { type RestartedServer, startRestarted } from './restarted-server.ts';
import { type Answer, askOnce, callRest, makeShipment, makeWrite, type Write } from './six-writes.ts';
import { type Post, startTroubledRest, type Trouble, type TroubledRest } from './troubled-rest.ts';
import { type Fault, faultsOf, type KeyedWrite, type TimedAnswer, type Wish } from './true-answers.ts';

export interface TroubleReport {
  /** The number of keys by mutation and last result, such as `createOrder CreateOrderSuccess`. */
  results: Record<string, number>;
  faults: Fault[];
  kills: number;
  /** The POSTs that Waybill sent, and the writes that REST did for them. */
  sent: number;
  done: number;
}

/** A client repeats a request so soon after its first answer. */
const soonMs = 200;
/** The pause before the next repeat, if Waybill does not say how long it should be. */
const laterMs = 3_000;
const maxUnknown = 3;
/** The part of a body that a history shows, in characters. */
const maxShownLength = 400;
/** No client starts another repeat later than this after the start of the run, except for the last one. */
const repeatsForMs = 15_000;

/**
 * Sends writes of six kinds to a server, while REST is in trouble and the server is killed. Clients repeat their requests
 * at once, later and at the end: with the same key, with a new key, and without a key.
 */
export async function writeThroughTrouble(
  trouble: Trouble,
  seed: number,
  writeCount: number,
): Promise<TroubleReport> {
  const random = createRandom(seed * 100_000);
  const directory = mkdtempSync(join(tmpdir(), 'waybill-trouble-'));
  const sandbox = await startSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs: 2_000 } });
  const rest = await startTroubledRest(sandbox, trouble, seed % 2 === 1);
  const settings = { UPSTREAM_URL: rest.url, STATE_FILE: join(directory, 'keys') };
  const server = await startRestarted(settings);
  let kills = 0;
  let isDone = false;
  async function killServer(): Promise<void> {
    // The server is first killed while most clients wait for their first answers.
    for (let waitMs = 300; !isDone; waitMs = random.integer(4_000, 8_000)) {
      for (let waitedMs = 0; waitedMs < waitMs && !isDone; waitedMs += 100) await pause(100);
      if (isDone) return;
      kills += 1;
      await server.restart();
    }
  }
  let killing: Promise<void> | undefined;
  try {
    await addForeignRecords(sandbox, rest);
    const clients = await Promise.all(
      Array.from({ length: writeCount }, (_, number) => startClient(sandbox, rest, server, seed, number)),
    );
    killing = killServer();
    const startedAtMs = performance.now();
    await Promise.all(clients.map((client) => client.work(startedAtMs + repeatsForMs)));
    isDone = true;
    await killing;
    // Reads show everything by now.
    await pause(laterMs);
    await Promise.all(clients.map((client) => client.workAtEnd()));
    await rest.idle();
    const wishes = clients.map(({ wish }) => wish);
    const keys = wishes.flatMap((wish) => wish.keys);
    const posts = keys.flatMap((key): Post[] => key.posts);
    const results: Record<string, number> = {};
    for (const { write, answers } of keys) {
      const { result = '', conflictReason } = answers.at(-1) ?? {};
      const name = [write.mutation, result, conflictReason].filter((text) => text !== undefined).join(' ');
      results[name] = (results[name] ?? 0) + 1;
    }
    const faults = await faultsOf(wishes, async (quote) => {
      const { order } = await callRest<{ order?: string }>(sandbox, `/v1/${quote}`);
      return order;
    });
    const done = posts.reduce((count, { names }) => count + names.length, 0);
    return { results, faults, kills, sent: posts.length, done };
  } finally {
    isDone = true;
    await killing;
    await server.end();
    await rest.close();
    await sandbox.close();
    rmSync(directory, { recursive: true });
  }
}

/** Makes records of other orders and conversations, with which REST can answer. */
async function addForeignRecords(sandbox: Sandbox, rest: TroubledRest): Promise<void> {
  for (let number = 0; number < 3; number += 1) {
    const { input } = await makeWrite(sandbox, 0, `other-${number}`);
    const { idempotencyKey: _, ...body } = input;
    const order = await callRest<{ name: string }>(sandbox, '/v1/orders', { ...body, paymentMethods: [] });
    const { input: shipped } = await makeShipment(sandbox, `other-${number}`, { order: order.name });
    const quote = await callRest(sandbox, `/v1/${shipped.quote}`);
    const { idempotencyKey: __, ...shipment } = shipped;
    const text = { recipient: { phone: `+57310000000${number}`, name: 'Otra' }, text: `other-${number}` };
    rest.addForeign('orders', JSON.stringify(order));
    rest.addForeign('quotes', JSON.stringify(quote));
    rest.addForeign('shipments', JSON.stringify(await callRest(sandbox, '/v1/shipments', shipment)));
    const message = JSON.stringify(await callRest(sandbox, '/v1/channels/ca1/messages', text));
    rest.addForeign('messages', message);
    rest.addForeign('messages', message.replace('channels/ca1', 'channels/ca9'));
  }
}

interface Client {
  wish: Wish;
  /** Sends the write, and repeats it until its result is known or the time is over. */
  work(untilMs: number): Promise<void>;
  /** Repeats each key a last time. */
  workAtEnd(): Promise<void>;
}

async function startClient(
  sandbox: Sandbox,
  rest: TroubledRest,
  server: RestartedServer,
  seed: number,
  number: number,
): Promise<Client> {
  const random = createRandom(seed * 100_000 + number);
  const marker = `w${seed}-${number}-`;
  const write = await makeWrite(sandbox, number, marker);
  const { order, quote } = write.input;
  const shippedOnce = /^(shipOrder|createShipment)$/.test(write.mutation)
    ? String(order ?? quote)
    : undefined;
  const wish: Wish = { marker, write, shippedOnce, keys: [], history: [] };
  const bornAtMs = performance.now();
  const note = (line: string) => {
    wish.history.push(`${((performance.now() - bornAtMs) / 1_000).toFixed(2).padStart(6)} s  ${line}`);
  };

  function addKey(keyed: Write, label: string | undefined): KeyedWrite {
    const { idempotencyKey: _, ...input } = keyed.input;
    const idempotencyKey = label && `key-${marker}${label}`;
    const key: KeyedWrite = {
      ...{ marker, hasKey: label !== undefined, tokens: [], answers: [], posts: [] },
      random: createRandom(random.integer(0, 2 ** 31 - 1)),
      write: { ...keyed, input: label === undefined ? input : { ...input, idempotencyKey } },
      note: (line) => note(`[${label ?? 'no key'}] ${line}`),
    };
    key.tokens.push(rest.issueToken(key), rest.issueToken(key));
    wish.keys.push(key);
    return key;
  }

  async function send(key: KeyedWrite): Promise<TimedAnswer> {
    const url = await server.url();
    const startedAtMs = performance.now();
    key.note(`client: ${key.write.mutation}`);
    const answer = await askOnce(url, key.write, random.pick(key.tokens));
    const timed = { ...answer, startedAtMs, endedAtMs: performance.now() };
    key.answers.push(timed);
    key.note(`client: got ${answer.result} ${answer.text.slice(0, maxShownLength)}`);
    return timed;
  }

  /** Sends the write in another way, which must not ship the same order or quote again. */
  async function addOther(): Promise<KeyedWrite> {
    const way = random.weighted([
      ['new key', 2],
      ['no key', 1],
      ['other quote', 1],
    ] as const);
    if (write.mutation === 'shipOrder' && way === 'other quote')
      return addKey(await makeShipment(sandbox, `${marker}b`, { order }), 'K2');
    // A `createShipment` without a key takes no lock: only REST can refuse it.
    return addKey(write, way === 'no key' && write.mutation !== 'createShipment' ? undefined : 'K2');
  }

  async function repeatUntilKnown(key: KeyedWrite, untilMs: number): Promise<void> {
    for (let unknown = 0; unknown < maxUnknown && performance.now() < untilMs; ) {
      const answer = key.answers.at(-1) ?? (await send(key));
      if (/Success|Conflict|InvalidInput|NotFound|NoOffer/.test(answer.result)) return;
      if (answer.result === 'OutcomeUnknown') unknown += 1;
      await pause(pauseOf(answer));
      await send(key);
    }
  }

  return {
    wish,
    async work(untilMs) {
      // Not all clients start at once.
      await pause(random.integer(0, 1_000));
      const takesKey = write.mutation === 'createShipment' || random.chance(0.8);
      const first = addKey(write, takesKey ? 'K1' : undefined);
      await send(first);
      await pause(soonMs);
      const second = first.hasKey && random.chance(0.6) ? first : await addOther();
      await send(second);
      for (const key of wish.keys.filter(({ hasKey }) => hasKey)) await repeatUntilKnown(key, untilMs);
    },
    async workAtEnd() {
      for (const key of wish.keys.filter(({ hasKey }) => hasKey)) {
        await pause(
          Math.max(0, (key.answers.at(-1)?.endedAtMs ?? 0) + pauseOf(key.answers.at(-1)) - performance.now()),
        );
        await send(key);
      }
    },
  };
}

/** How long Waybill asks to wait before the key is sent again, in milliseconds. */
function pauseOf(answer: Answer | undefined): number {
  if (answer?.result === 'no response') return soonMs;
  const [, seconds] = / (\d+) seconds?\b/.exec(answer?.message ?? '') ?? [];
  return seconds === undefined ? laterMs : Number(seconds) * 1_000;
}
