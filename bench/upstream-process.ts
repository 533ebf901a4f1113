import { startSandbox } from '../src/sandbox/sandbox.ts';
import type { UpstreamGreeting } from './upstream.ts';

// The sandbox in a process of its own, so that its work is not counted as that of whoever asks it. A message is the latency
// to have from now on, in milliseconds; the answer to it is the calls since the one before.

const sandbox = await startSandbox({ now: new Date('2026-11-02T14:00:00Z') });

process.on('message', (latencyMs: number) => {
  const calls = sandbox.requests.lines();
  sandbox.requests.clear();
  sandbox.faults.clear();
  // Each request waits on its own; none waits for another.
  if (latencyMs > 0) sandbox.faults.add({ kind: 'delay', delayMs: latencyMs });
  process.send?.(calls);
});
process.once('disconnect', () => sandbox.close());

process.send?.({ url: sandbox.url, tokens: sandbox.tokens } satisfies UpstreamGreeting);
