import { deepStrictEqual } from 'node:assert/strict';
import { ask, type Listening } from './ask.ts';
import { newBearer } from './bearers.ts';
import type { WorkloadName } from './workloads.ts';

async function data(server: Listening, workload: WorkloadName): Promise<unknown> {
  // Where it is no answer of GraphQL, it differs from what is expected.
  const whole = (await ask(server, workload, newBearer())) as { data: unknown };
  const { shaped } = server.entry;
  return shaped === undefined ? whole : { ...whole, data: shaped(whole.data, workload) };
}

/** @throws AssertionError where a server's data is not that of the first. */
export async function compareAnswers(servers: readonly Listening[], workload: WorkloadName): Promise<void> {
  const [first, ...others] = servers;
  if (first === undefined) return;
  const expected = await data(first, workload);
  for (const server of others) {
    const { name } = server.entry;
    deepStrictEqual({ [name]: await data(server, workload) }, { [name]: expected });
  }
}
