import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** How many merchants use the server at once. */
export const tenants = 8;

/** The access token of a tenant. */
export const tokenOf = (tenant: number) => `soak-token-${tenant}`;

/** What the process of REST says first. */
export interface UpstreamGreeting {
  url: string;
}

/** REST in a process of its own. */
export interface Upstream extends UpstreamGreeting {
  /** How many calls have come, by method and collection. */
  calls(): Promise<Record<string, number>>;
  close(): void;
}

export async function startUpstream(): Promise<Upstream> {
  const child = fork(join(import.meta.dirname, 'upstream-process.ts'));
  // Whatever the process sends is one of the two that upstream-process.ts has, in turn.
  const { url } = (await once(child, 'message'))[0] as UpstreamGreeting;
  return {
    url,
    async calls() {
      child.send('calls');
      return (await once(child, 'message'))[0] as Record<string, number>;
    },
    close: () => child.disconnect(),
  };
}
