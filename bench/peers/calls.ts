import { ask, type Listening } from './ask.ts';
import { newBearer, oneBearer } from './bearers.ts';
import type { Scenario } from './scenarios.ts';
import type { Upstream } from './upstream.ts';
import type { Call } from './upstream-process.ts';

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
  await ask(server, workload, bearer === 'new' ? newBearer() : oneBearer());
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
export function described(calls: readonly Call[]): string {
  const turns = Map.groupBy(calls, ({ turn }) => turn);
  return [...turns.values()].map(describedTurn).join(', then ') || 'none';
}

function describedTurn(calls: readonly Call[]): string {
  const kinds = Map.groupBy(calls, ({ line }) => line.replace(/(\/v1\/\w+\/)\w+/, '$1{id}'));
  return [...kinds].map(([kind, { length }]) => `${length} × \`${kind}\``).join(' and ');
}
