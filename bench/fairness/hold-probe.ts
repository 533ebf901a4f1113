import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Hold } from './held-loop.ts';

// Runs in the server's process before the server. Each message gets the longest hold of the event loop since the last
// message.

const resolutionMs = 1;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();

const cpuUs = () => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};
let lastUs = cpuUs();
let longestUs = 0;
setInterval(() => {
  const nowUs = cpuUs();
  longestUs = Math.max(longestUs, nowUs - lastUs);
  lastUs = nowUs;
}, resolutionMs).unref();

process.on('message', () => {
  process.send?.({ ms: delay.max / 1e6 - resolutionMs, cpuMs: longestUs / 1_000 } satisfies Hold);
  delay.reset();
  longestUs = 0;
});
// The listener alone must not keep the server alive.
process.channel?.unref();
