import { startSandbox } from '../src/sandbox/sandbox.ts';
import type { CallsSeen, UpstreamOrder } from './upstream.ts';

// The sandbox as the REST service of a benchmark. It records all calls, but not their turns.

const sandbox = await startSandbox({ now: new Date('2026-11-02T14:00:00Z') });

process.on('message', ({ delayMs }: UpstreamOrder) => {
  const calls = sandbox.requests.lines().map((line) => ({ line, turn: 1 }));
  sandbox.requests.clear();
  sandbox.faults.clear();
  // Requests wait at the same time.
  if (delayMs > 0) sandbox.faults.add({ kind: 'delay', delayMs });
  process.send?.({ count: calls.length, calls } satisfies CallsSeen);
});
process.once('disconnect', () => sandbox.close());

process.send?.(sandbox.url);
