import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { RequestEntry } from '../../src/sandbox/http/request-log.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createRandom, type Random } from '../../src/sandbox/seed/random.ts';
import { type RestartedServer, startRestarted } from './restarted-server.ts';
import { type Standby, startSharedDatabase } from './shared-database.ts';
import { type Answer, askOnce, countShipments, makeWrite, type Write } from './six-writes.ts';
import { createdIn } from './true-answers.ts';

/** What came of the writes of a run. */
export interface TwoServersReport {
  /** The number of writes by mutation and last result, such as `createOrder CreateOrderSuccess`. */
  results: Record<string, number>;
  /** The number of answers by result, of all requests. */
  answers: Record<string, number>;
  /** The broken promises. */
  faults: string[];
  /** The writes that a failover to an asynchronous standby let REST do twice, which the documentation says. */
  lost: string[];
  /** How often each disturbance happened. */
  disturbances: Record<string, number>;
}

const atOnce = 64;
const maxAttempts = 20;
/** A client repeats an unknown outcome: another request may still be at work on the key. */
const maxUnknown = 3;
/** So many characters of the last answers are shown. */
const maxShown = 300;
/** Longer than a lease. */
const standStillMs = 6_500;
const maxFailovers = 3;
/** So many writes in a row ship to the same person. A look at REST after a failover reads the quotes of such shipments. */
const groupSize = 60;

interface Client {
  write: Write;
  marker: string;
  answers: Answer[];
}

/**
 * Sends writes of six kinds to two servers with one PostgreSQL. Each key goes to both servers at the same time, and once
 * more later with a new token. Meanwhile servers, PostgreSQL and the network between them fail, by a seed.
 */
export async function writeThroughTwoServers(
  seed: number,
  writeCount: number,
  standby: Standby,
): Promise<TwoServersReport> {
  const random = createRandom(seed * 1_000);
  const database = await startSharedDatabase(standby, 2);
  // A second shipment of an order is not refused, and the order names the first one late.
  const sandbox = await startSandbox({ quirks: { shipsAgain: true, shipmentNamedAfterMs: 3_000 } });
  const servers = await Promise.all(
    database.urls.map((url) => startRestarted({ UPSTREAM_URL: sandbox.url, STATE_URL: url })),
  );
  const tokens = [sandbox.tokens.first, sandbox.tokens.firstRefreshed];
  const report: TwoServersReport = { results: {}, answers: {}, faults: [], lost: [], disturbances: {} };
  const posts = collectPosts(sandbox);

  const disturbances: Record<string, () => Promise<unknown>> = {
    'a server is killed': () => random.pick(servers).restart(),
    'a server stands still': () => random.pick(servers).standStill(standStillMs),
    'the primary is killed': () => database.failOver(),
    'packets are dropped': () => database.dropPackets(random.integer(0, 1), random.integer(500, 7_000)),
    'the primary is read-only': () => database.refuseWrites(1_500),
    'responses of REST are lost': async () =>
      sandbox.faults.add({ kind: 'applied-then-cut', method: 'POST', times: 2 }),
    'a token ends': async () => replaceToken(sandbox, tokens),
  };
  if (standby === 'synchronous')
    disturbances['a wait for the standby is cancelled'] = () => database.cancelWaits(1_000);

  let isDone = false;
  async function disturb(): Promise<void> {
    const names = Object.keys(disturbances);
    // Each happens once before one happens again.
    for (let left: string[] = []; !isDone; ) {
      if (left.length === 0) left = [...names];
      const name = random.pick(left);
      left.splice(left.indexOf(name), 1);
      const count = report.disturbances[name] ?? 0;
      if (name === 'the primary is killed' && count >= maxFailovers) continue;
      await pause(300 + random.fraction() * 1_000);
      report.disturbances[name] = count + 1;
      await disturbances[name]?.();
    }
  }

  // Before the disturbances, which would meet these calls too.
  const clients = await pLimit(atOnce).map(
    Array.from({ length: writeCount }),
    async (_, number): Promise<Client> => {
      const marker = `w${seed}-${number}-`;
      return {
        write: await makeWrite(sandbox, number, marker, Math.floor(number / groupSize)),
        marker,
        answers: [],
      };
    },
  );
  const disturbing = disturb();
  async function work(client: Client): Promise<void> {
    await Promise.all(
      servers.map((server) => sendUntilKnown(client, server, () => random.pick(tokens), random)),
    );
    await pause(random.fraction() * 1_000);
    const token = sandbox.issueToken(sandbox.tokens.first);
    await sendUntilKnown(client, random.pick(servers), () => token, random);
  }
  try {
    await pLimit(atOnce).map(clients, work);
    isDone = true;
    await disturbing;
    const shipments = await countShipments(sandbox);
    for (const client of clients) {
      const { write, answers } = client;
      const count =
        write.mutation === 'shipOrder'
          ? (shipments.get(String(write.input.order)) ?? 0)
          : posts.all().filter((post) => isDoneOf(post, write)).length;
      addTo(report.results, `${write.mutation} ${answers.at(-1)?.result}`);
      for (const { result } of answers) addTo(report.answers, result);
      judge(client, count, standby, report);
    }
    return report;
  } finally {
    isDone = true;
    await disturbing;
    posts.stop();
    for (const server of servers) await server.end();
    await sandbox.close();
    await database.close();
  }
}

/** Adds what is wrong with the answers of a key, for which REST did `count` writes. */
function judge(
  { write, marker, answers }: Client,
  count: number,
  standby: Standby,
  report: TwoServersReport,
) {
  const say = (text: string) =>
    `${marker}: ${write.mutation} ${text} (${answers
      .map(({ result }) => result)
      .join(', ')
      .slice(-maxShown)})`;
  const created = new Set(answers.filter(isSuccess).flatMap((answer) => createdIn(answer, { write })));
  // An asynchronous standby may lose a key. Only shipments are looked for.
  const isLookedFor = standby === 'synchronous' || /^(shipOrder|createShipment)$/.test(write.mutation);
  const found = isLookedFor ? report.faults : report.lost;
  if (count > 1) found.push(say(`was done ${count} times`));
  if (created.size > 1) found.push(say('has two results'));
  if (count === 0 && answers.some(isSuccess)) report.faults.push(say('was not done'));
  const wrong = answers.filter(
    ({ result, isRetryable }) =>
      !/Success|^(OutcomeUnknown|no response|UNAUTHENTICATED)$/.test(result) &&
      !isRetryable &&
      !(standby === 'asynchronous' && result === 'Conflict'),
  );
  const texts = new Set(wrong.map(({ result, message }) => `was answered with ${result} ${message}`));
  report.faults.push(...[...texts].map(say));
}

/** Sends a write with its key until its result is known, or 20 attempts have failed. */
async function sendUntilKnown(
  { write, answers }: Client,
  server: RestartedServer,
  pickToken: () => string,
  random: Random,
): Promise<void> {
  for (let attempt = 0, unknown = 0; attempt < maxAttempts && unknown < maxUnknown; attempt += 1) {
    const answer = await askOnce(await server.url(), write, pickToken());
    answers.push(answer);
    if (/Success|Conflict|InvalidInput/.test(answer.result)) return;
    if (answer.result === 'OutcomeUnknown') unknown += 1;
    await pause(100 + random.fraction() * 900);
  }
}

/** Collects the POSTs that REST receives. Its log is short. */
function collectPosts(sandbox: Sandbox) {
  const posts: RequestEntry[] = [];
  function collect(): void {
    const entries = sandbox.requests.entries();
    sandbox.requests.clear();
    posts.push(...entries.filter(({ method }) => method === 'POST'));
  }
  const timer = setInterval(collect, 200);
  return {
    all(): readonly RequestEntry[] {
      collect();
      return posts;
    },
    stop: () => clearInterval(timer),
  };
}

/** Whether REST did a write for this POST. A lost response has no status. */
function isDoneOf({ path, body, status = 200 }: RequestEntry, write: Write): boolean {
  return status < 400 && write.isOwnPost(path, JSON.stringify(body ?? ''));
}

/** Ends the older token, and issues the next one. */
function replaceToken(sandbox: Sandbox, tokens: string[]): void {
  const ended = tokens.shift();
  if (ended === undefined) return;
  sandbox.endToken(ended);
  tokens.push(sandbox.issueToken(ended));
}

const isSuccess = ({ result }: Answer) => result.endsWith('Success');

function addTo(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
