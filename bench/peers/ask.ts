import { bodiesFor, type ServerEntry } from './servers.ts';
import type { WorkloadName } from './workloads.ts';

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
  const [body = ''] = bodiesFor(entry, workload);
  const response = await fetch(`http://127.0.0.1:${port}${entry.path(workload)}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Bearer ${bearer}`,
    },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${entry.name} answered ${response.status} ${text}`);
  return JSON.parse(text);
}
