import { once } from 'node:events';
import { join } from 'node:path';
import { startPinned } from './pinned.ts';
import type { CallsSeen, UpstreamOrder } from './upstream-process.ts';

/** The REST service in a process of its own, on the core of the load. */
export interface Upstream {
  url: string;
  /** What holds from now on. Answers the calls that came since it was last told. */
  turnTo(order: UpstreamOrder): Promise<CallsSeen>;
  close(): void;
}

export async function startUpstream(core: number): Promise<Upstream> {
  const child = startPinned(core, [join(import.meta.dirname, 'upstream-process.ts')], process.env, 'ipc');
  // The process sends its address first, and then an answer to each order.
  const url = (await once(child, 'message'))[0] as string;
  return {
    url,
    async turnTo(order) {
      child.send(order);
      return (await once(child, 'message'))[0] as CallsSeen;
    },
    close: () => child.disconnect(),
  };
}
