import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import { tokenStart } from './boards.ts';
import { type LiveServer, type Report, type Size, startLiveServer } from './server.ts';
import { type Viewer, watch } from './viewers.ts';

const atOnce = 100;
/** After these, code is compiled and caches are full. */
const warmUps = 1_000;
/** 10,000 streams that each leave 100 bytes leave less. */
const mostGrowthMb = 1;
const quietMs = 10_000;

/** How a client leaves. */
const leavings: Record<string, (viewer: Viewer) => Promise<void>> = {
  async 'closes after an event'({ socket, opened }) {
    await opened;
    socket.end();
    // The server closes its side only when the stream ends, so a client that waits closes, too.
    await pause(5);
    socket.destroy();
  },
  async 'closes before an event'({ socket }) {
    await pause(Math.random() * 5);
    socket.destroy();
  },
  async 'breaks off after an event'({ socket, opened }) {
    await opened;
    socket.resetAndDestroy();
  },
  async 'reads nothing, and breaks off'({ socket }) {
    socket.pause();
    await pause(50 * Math.random());
    socket.resetAndDestroy();
  },
};

/** Streams that open and end: afterwards, the server holds nothing of them, and makes no call. */
export async function measureChurn({ streams, tokens }: Size): Promise<Report> {
  const live = await startLiveServer();
  try {
    await churn(live, Math.min(warmUps, streams), tokens);
    await live.noStreams();
    const before = await live.holdings();
    const startMs = performance.now();
    await churn(live, streams, tokens);
    const tookS = (performance.now() - startMs) / 1_000;
    const open = await live.noStreams();
    await live.rest.order({});
    await pause(quietMs);
    const { calls } = await live.rest.order({});
    // Idle connections to REST do not count: they keep no process running.
    const after = await live.holdings();
    const growthMb = after.heapMb - before.heapMb;
    const misses: string[] = [];
    if (open > 0) misses.push(`${open} streams are open`);
    if (calls.length > 0) misses.push(`${calls.length} calls without a stream`);
    if (growthMb > mostGrowthMb) misses.push(`${growthMb.toFixed(2)} MB more heap`);
    if (after.sockets > before.sockets) misses.push(`${after.sockets} sockets are open`);
    return {
      head: [
        ...['streams', 'seconds', 'still open', `calls in ${quietMs / 1_000} s afterwards`],
        ...['heap before, MB', 'heap after, MB', 'sockets before', 'sockets after'],
      ],
      rows: [
        [
          ...[String(streams), tookS.toFixed(0), String(open), String(calls.length)],
          ...[before.heapMb.toFixed(2), after.heapMb.toFixed(2)],
          ...[String(before.sockets), String(after.sockets)],
        ],
      ],
      misses,
    };
  } finally {
    live.stop();
  }
}

async function churn({ port }: LiveServer, streams: number, tokens: number): Promise<void> {
  const ways = Object.values(leavings);
  const limit = pLimit(atOnce);
  await limit.map(
    Array.from({ length: streams }, (_, index) => index),
    async (index) => {
      const viewer = watch(port, `${tokenStart}${index % tokens}`);
      // The ways are taken in turn, each with each token.
      await ways[Math.floor(index / tokens) % ways.length]?.(viewer);
    },
  );
}
