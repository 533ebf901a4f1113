import { deepStrictEqual } from 'node:assert/strict';
import type { Call, Upstream } from '../upstream.ts';
import { nextBearer, type Scenario } from './scenarios.ts';
import type { ServerEntry } from './servers.ts';
import { bodiesOf, type WorkloadName } from './workloads.ts';

// The response of a server and its REST calls. Both are compared once, before the measurement.

/** A server that listens. */
export interface Listening {
  entry: ServerEntry;
  port: number;
}

/**
 * The response of a server to the first request of a workload.
 * @throws Error if the server cannot be reached, and if the status is no success.
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

/** @throws AssertionError if the data of a server differs from the data of the first server. */
export async function compareAnswers(servers: readonly Listening[], workload: WorkloadName): Promise<void> {
  let expected: unknown;
  for (const server of servers) {
    const { name, shaped } = server.entry;
    // A response that is not from GraphQL differs from the expected response.
    const answer = (await ask(server, workload, nextBearer('new'))) as { data: unknown };
    const whole = shaped === undefined ? answer : { ...answer, data: shaped(answer.data, workload) };
    expected ??= whole;
    deepStrictEqual({ [name]: whole }, { [name]: expected });
  }
}

/**
 * The REST calls of a server for one request of a scenario. The server must have had this load before. Without a delay,
 * all calls have the same turn, because REST then answers even simultaneous calls one after the other.
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

/** The number of turns: calls that wait for each other. */
export function turnsOf(calls: readonly Call[]): number {
  return Math.max(0, ...calls.map(({ turn }) => turn));
}

/** Whether both have the same calls in the same turns, in any order within a turn. */
export function areSame(some: readonly Call[], others: readonly Call[]): boolean {
  const sorted = (calls: readonly Call[]) => calls.map(({ line, turn }) => `${turn} ${line}`).sort();
  return sorted(some).join() === sorted(others).join();
}

/** ``1 × `GET /v1/orders?pageSize=50`, then 50 × `GET /v1/quotes/{id}` ``: one turn after the other. */
export function describedCalls(calls: readonly Call[]): string {
  const turns = Map.groupBy(calls, ({ turn }) => turn);
  return [...turns.values()].map(describedTurn).join(', then ') || 'none';
}

function describedTurn(calls: readonly Call[]): string {
  const kinds = Map.groupBy(calls, ({ line }) => line.replace(/(\/v1\/\w+\/)\w+/, '$1{id}'));
  return [...kinds].map(([kind, { length }]) => `${length} × \`${kind}\``).join(' and ');
}
