import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Server } from '../server-process.ts';
import { tenants, tokenOf } from '../tenants.ts';

const patienceMs = 30_000;

/** The waits of one probe. */
export interface Waits {
  ms: number[];
  /** Answers that were not right: a refusal, or no answer in time. */
  failed: number;
}

/** Sends one request, and notes how long the answer took. */
export type Probe = (waits: Waits) => Promise<void>;

/** An agent whose requests wait for 30 seconds. */
export const newAgent = () =>
  new Agent({ headersTimeout: patienceMs, bodyTimeout: patienceMs, connect: { timeout: patienceMs } });

type Send = (dispatcher: Agent) => ReturnType<typeof request>;

async function note(waits: Waits, agent: Agent, send: Send): Promise<void> {
  const startedAtMs = performance.now();
  try {
    const { statusCode, body } = await send(agent);
    const text = await body.text();
    if (statusCode !== 200 || text.includes('"errors"')) waits.failed += 1;
  } catch {
    waits.failed += 1;
  }
  waits.ms.push(performance.now() - startedAtMs);
}

const onKept =
  (agent: Agent, send: Send): Probe =>
  (waits) =>
    note(waits, agent, send);

const onNew =
  (send: Send): Probe =>
  async (waits) => {
    const agent = newAgent();
    await note(waits, agent, send);
    await agent.destroy();
  };

const asks =
  ({ port }: Server, token: string, query: string): Send =>
  (dispatcher) =>
    request(`http://127.0.0.1:${port}/graphql`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query }),
    });

const smallQuery = '{ orders(first: 1) { nodes { id } } }';

export const probeNames = [
  'live, kept open',
  'live, new',
  'small query, kept open',
  'small query, new',
] as const;

/** The name of a probe, or of what is measured besides the probes. */
export type ProbeName = (typeof probeNames)[number] | 'page of 1,000' | 'new token';

/** The probes during each attack. @param kept has the connection that stays open */
export function probesOf(server: Server, kept: Agent): Partial<Record<ProbeName, Probe>> {
  const live: Send = (dispatcher) => request(`http://127.0.0.1:${server.port}/health/live`, { dispatcher });
  const small = asks(server, tokenOf(1), smallQuery);
  return {
    'live, kept open': onKept(kept, live),
    'live, new': onNew(live),
    'small query, kept open': onKept(kept, small),
    'small query, new': onNew(small),
  };
}

/** The page of 1,000 orders of a merchant who neither attacks nor sends small queries. */
export const pageProbe = (server: Server): Probe =>
  onNew(asks(server, tokenOf(0), '{ orders(first: 1000) { nodes { id status notes } } }'));

/** The small query of a token that the server does not know. @param number the number of the token, from 1 on */
export const newTokenProbe = (server: Server, number: number): Probe =>
  onNew(asks(server, tokenOf(tenants - 1, number), smallQuery));

/** Runs probes at once, each again and again with pauses while `mayGoOn` says so, but at least once. */
export async function sample(
  probes: Partial<Record<ProbeName, Probe>>,
  { pauseMs, mayGoOn }: { pauseMs: number; mayGoOn(taken: number): boolean },
): Promise<Partial<Record<ProbeName, Waits>>> {
  const waits: Partial<Record<ProbeName, Waits>> = {};
  const each = Object.entries(probes).map(async ([name, probe]) => {
    const own: Waits = { ms: [], failed: 0 };
    // The keys of an object literal are its names.
    waits[name as ProbeName] = own;
    do {
      await probe(own);
      await pause(pauseMs);
    } while (mayGoOn(own.ms.length));
  });
  await Promise.all(each);
  return waits;
}
