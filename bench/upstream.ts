import { once } from 'node:events';
import { join } from 'node:path';
import { startNode } from './server-process.ts';

/** What holds for calls from now on. */
export interface UpstreamOrder {
  /** How long each call waits before it is answered. */
  delayMs: number;
  keepsCalls: boolean;
}

export interface Call {
  /** `GET /v1/orders?pageSize=100` */
  line: string;
  /** 1, and one more than that of the last call that had been answered when this one came. */
  turn: number;
}

/** The calls since the last order. */
export interface CallsSeen {
  count: number;
  /** In the order in which they came, where they are kept. */
  calls: Call[];
}

/** A REST service in a process of its own, so that its work is not counted as that of whoever asks it. */
export interface Upstream {
  url: string;
  /** Sets what holds from now on. Answers the calls that came since the last order. */
  turnTo(order: UpstreamOrder): Promise<CallsSeen>;
  close(): void;
}

/**
 * @param program `upstream-process.ts`, the fast service of the benchmark's own records, or `sandbox-process.ts`.
 * @param core where it runs; where it will when left out.
 */
export async function startUpstream(program: string, core?: number): Promise<Upstream> {
  const child = startNode([join(import.meta.dirname, program)], {
    core,
    env: process.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // Either program sends its address first, and then an answer to each order.
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
