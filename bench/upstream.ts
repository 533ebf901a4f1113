import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What the sandbox's process says first. */
export interface UpstreamGreeting {
  url: string;
  tokens: { first: string; second: string };
}

/** The sandbox in a process of its own. */
export interface Upstream extends UpstreamGreeting {
  /** Has every call wait so many milliseconds from now on. Answers the calls that came since it was last told. */
  turnTo(latencyMs: number): Promise<string[]>;
  close(): void;
}

export async function startUpstream(): Promise<Upstream> {
  const child = fork(join(import.meta.dirname, 'upstream-process.ts'));
  // Whatever the process sends is one of the two that upstream-process.ts has, in turn.
  const greeting = (await once(child, 'message'))[0] as UpstreamGreeting;
  return {
    ...greeting,
    async turnTo(latencyMs) {
      child.send(latencyMs);
      return (await once(child, 'message'))[0] as string[];
    },
    close: () => child.disconnect(),
  };
}
