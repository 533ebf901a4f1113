import { startSandbox } from '../src/sandbox/sandbox.ts';
import type { CallsSeen, UpstreamOrder } from './upstream.ts';

// The sandbox as an upstream. It keeps all calls, and tells none of their turns.

const sandbox = await startSandbox({ now: new Date('2026-11-02T14:00:00Z') });

process.on('message', ({ delayMs }: UpstreamOrder) => {
  const calls = sandbox.requests.lines().map((line) => ({ line, turn: 1 }));
  sandbox.requests.clear();
  sandbox.faults.clear();
  // Each request waits on its own; none waits for another.
  if (delayMs > 0) sandbox.faults.add({ kind: 'delay', delayMs });
  process.send?.({ count: calls.length, calls } satisfies CallsSeen);
});
process.once('disconnect', () => sandbox.close());

process.send?.(sandbox.url);
