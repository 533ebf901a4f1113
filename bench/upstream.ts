import { once } from 'node:events';
import { join } from 'node:path';
import { startNode } from './server-process.ts';

/** The behaviour of the REST service from now on. */
export interface UpstreamOrder {
  /** The delay of each response in milliseconds. */
  delayMs: number;
  keepsCalls: boolean;
}

export interface Call {
  /** `GET /v1/orders?pageSize=100` */
  line: string;
  /** 1 plus the turn of the last call that was answered when this call arrived; the first calls have turn 1. */
  turn: number;
}

/** The calls since the last order. */
export interface CallsSeen {
  count: number;
  /** The calls in the order of arrival; empty unless `keepsCalls` is set. */
  calls: Call[];
}

/** A REST service in a process of its own, so that its CPU time is not part of the server's CPU time. */
export interface Upstream {
  url: string;
  /** Sets the behaviour from now on. Returns the calls since the last order. */
  turnTo(order: UpstreamOrder): Promise<CallsSeen>;
  close(): void;
}

/**
 * @param program `upstream-process.ts`, a fast service with the records of the benchmark, or `sandbox-process.ts`.
 * @param core the core of its process; any core by default.
 */
export async function startUpstream(program: string, core?: number): Promise<Upstream> {
  const child = startNode([join(import.meta.dirname, program)], {
    core,
    env: process.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // Both programs send their address first, and then the calls for each order.
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
