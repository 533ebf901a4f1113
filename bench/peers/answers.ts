import { deepStrictEqual } from 'node:assert/strict';
import type { Call, Upstream } from '../upstream.ts';
import { nextBearer, type Scenario } from './scenarios.ts';
import type { ServerEntry } from './servers.ts';
import { bodiesOf, type WorkloadName } from './workloads.ts';

// What a server answers, and which calls it makes for that: compared once, before servers are asked again and again.

/** A server that listens. */
export interface Listening {
  entry: ServerEntry;
  port: number;
}

/**
 * What a server answers to the first request of a workload.
 * @throws Error where it can't be reached, and where its status is not of success.
 */
export async function ask(
  { entry, port }: Listening,
  workload: WorkloadName,
  bearer: string,
): Promise<unknown> {
  const [body = ''] = bodiesOf(workload, entry.documents?.[workload]);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: `Bearer ${bearer}`,
    connection: 'close',
  };
  const url = `http://127.0.0.1:${port}${entry.path(workload)}`;
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${entry.name} answered ${response.status} ${text}`);
  return JSON.parse(text);
}

/** @throws AssertionError where a server's data is not that of the first. */
export async function compareAnswers(servers: readonly Listening[], workload: WorkloadName): Promise<void> {
  let expected: unknown;
  for (const server of servers) {
    const { name, shaped } = server.entry;
    // Where it is no answer of GraphQL, it differs from what is expected.
    const answer = (await ask(server, workload, nextBearer('new'))) as { data: unknown };
    const whole = shaped === undefined ? answer : { ...answer, data: shaped(answer.data, workload) };
    expected ??= whole;
    deepStrictEqual({ [name]: whole }, { [name]: expected });
  }
}

/**
 * The calls that a server makes for one request of a scenario. It has to have been under that load before. All have the same
 * turn without a delay, as even those that are made at once are then answered one after another.
 */
export async function callsOf(
  server: Listening,
  { workload, bearer, delayMs }: Scenario,
  upstream: Upstream,
): Promise<Call[]> {
  await upstream.turnTo({ delayMs, keepsCalls: true });
  await ask(server, workload, nextBearer(bearer));
  const { calls } = await upstream.turnTo({ delayMs, keepsCalls: false });
  return delayMs > 0 ? calls : calls.map(({ line }) => ({ line, turn: 1 }));
}

/** How many of them came one after another, which are the least for which the caller waited. */
export function turnsOf(calls: readonly Call[]): number {
  return Math.max(0, ...calls.map(({ turn }) => turn));
}

/** Whether they are the same in the same turns, whatever came first of those of a turn. */
export function areSame(some: readonly Call[], others: readonly Call[]): boolean {
  const sorted = (calls: readonly Call[]) => calls.map(({ line, turn }) => `${turn} ${line}`).sort();
  return sorted(some).join() === sorted(others).join();
}

/** ``1 × `GET /v1/orders?pageSize=50`, then 50 × `GET /v1/quotes/{id}` ``: turn by turn. */
export function describedCalls(calls: readonly Call[]): string {
  const turns = Map.groupBy(calls, ({ turn }) => turn);
  return [...turns.values()].map(describedTurn).join(', then ') || 'none';
}

function describedTurn(calls: readonly Call[]): string {
  const kinds = Map.groupBy(calls, ({ line }) => line.replace(/(\/v1\/\w+\/)\w+/, '$1{id}'));
  return [...kinds].map(([kind, { length }]) => `${length} × \`${kind}\``).join(' and ');
}
