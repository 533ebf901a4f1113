import { deepStrictEqual } from 'node:assert/strict';
import type { Server } from './server-process.ts';
import { bodiesFor } from './servers.ts';
import type { Upstream } from './upstream.ts';
import type { WorkloadName } from './workloads.ts';

async function answer(server: Server, workload: WorkloadName, bearer: string): Promise<unknown> {
  const [body = ''] = bodiesFor(server.entry, workload);
  const response = await fetch(`http://127.0.0.1:${server.port}${server.entry.path(workload)}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Bearer ${bearer}`,
    },
    body,
  });
  return response.json();
}

async function data(server: Server, workload: WorkloadName): Promise<unknown> {
  // Where it is no answer of GraphQL, it differs from what is expected.
  const whole = (await answer(server, workload, 'compared')) as { data: unknown };
  const { shaped } = server.entry;
  return shaped === undefined ? whole : { ...whole, data: shaped(whole.data, workload) };
}

/** @throws AssertionError where a server's data is not that of the first. */
export async function compareAnswers(servers: readonly Server[], workload: WorkloadName): Promise<void> {
  const [first, ...others] = servers;
  if (first === undefined) return;
  const expected = await data(first, workload);
  for (const server of others) {
    const { name } = server.entry;
    deepStrictEqual({ [name]: await data(server, workload) }, { [name]: expected });
  }
}

/**
 * The calls that a server makes for one request, sorted: of a bearer that it has not seen, and of one that it has.
 * The servers have to have been warmed up.
 */
export async function callsOf(
  server: Server,
  workload: WorkloadName,
  upstream: Upstream,
): Promise<Record<'new' | 'constant', string[]>> {
  const bearer = `calls-${performance.now()}`;
  const calls = async () => {
    await upstream.turnTo({ delayMs: 0, keepsLines: true });
    await answer(server, workload, bearer);
    return (await upstream.turnTo({ delayMs: 0, keepsLines: false })).lines.sort();
  };
  const ofNew = await calls();
  // Whatever is learned by token is learned after some.
  for (let times = 0; times < 20; times++) await answer(server, workload, bearer);
  return { new: ofNew, constant: await calls() };
}
