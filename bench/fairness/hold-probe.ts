import { monitorEventLoopDelay } from 'node:perf_hooks';

// Runs in the server's process before the server. Each message gets the longest hold of the event loop since the last
// message, in milliseconds.

const resolutionMs = 1;
const delay = monitorEventLoopDelay({ resolution: resolutionMs });
delay.enable();

process.on('message', () => {
  process.send?.(delay.max / 1e6 - resolutionMs);
  delay.reset();
});
// The channel must not keep the server running.
process.channel?.unref();
