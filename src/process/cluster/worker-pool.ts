import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../telemetry/log.ts';
import type { MetricsPage } from '../../telemetry/metrics.ts';
import type { SummedMetrics } from '../../telemetry/summed-metrics.ts';
import type { SharedStore } from '../../writes/shared-store.ts';
import { within } from '../signals.ts';
import { WorkerStartError } from '../startup-errors.ts';
import type { Orders } from './start-options.ts';
import { type End, type Member, startMember } from './worker-handle.ts';

/** The workers that serve at present. One that ends is replaced, until the crew ends. */
export interface Crew {
  /** Starts all of them, and answers where they listen. @throws WorkerStartError where one can't start. */
  start(): Promise<URL>;
  /** Has all of them drain and end; what lasts longer than this is killed. Answers whether each has ended well. */
  end(withinMs: number): Promise<boolean>;
  /** Ends all of them at once. */
  kill(): void;
  /** What all of them have counted. */
  metricsPage(): Promise<MetricsPage>;
}

export interface CrewOptions {
  size: number;
  orders: Orders;
  store: SharedStore;
  metrics: SummedMetrics | undefined;
  log: Log;
  /** Told of each worker when its process is there. */
  onMember(member: Member): void;
  /** Told when one after the other could not take the place of a worker; `fault` is what the last one said of that. */
  onGiveUp(fault: string): void;
}

const firstPauseMs = 100;
const longestPauseMs = 10_000;
// Who has lived for longer has not made the pause any longer.
const rememberedMs = 60_000;
const startsInVain = 5;
// A worker that has not said by then what it has counted is shown as it was.
const countsMs = 1_000;

export function createCrew(options: CrewOptions): Crew {
  const { orders, store, metrics, log } = options;
  const members = new Set<Member>();
  /** Those that serve and have nobody yet to take their place. */
  const serving = new Set<Member>();
  let isEnding = false;
  let endedAt: number[] = [];
  let failedStarts = 0;

  /** Starts one worker, and answers where it listens. @throws WorkerStartError */
  async function enlist(): Promise<URL> {
    const { leave: forgetKeys, ...keys } = store.join();
    const member = startMember({
      ...keys,
      metricsPage,
      tellRefused: async (tenantId) => tellOthers(member, tenantId),
      lastCounts: async (counts) => void metrics?.take(member.id, counts),
      leave: () => succeed(member),
    });
    members.add(member);
    options.onMember(member);
    void member.ended.then((end) => {
      members.delete(member);
      forgetKeys();
      metrics?.left(member.id);
      if (serving.delete(member)) void replace(member, end);
    });
    try {
      const url = new URL(await member.calls.call('start', orders));
      serving.add(member);
      log.info({ worker: member.id, pid: member.pid }, 'a worker serves');
      return url;
    } catch (error) {
      member.kill();
      throw new WorkerStartError(error instanceof Error ? error.message : String(error));
    }
  }

  function tellOthers(teller: Member, tenantId: string): void {
    for (const member of members) {
      // One that ends meanwhile keeps nothing.
      if (member !== teller) member.calls.call('refused', tenantId).catch(() => {});
    }
  }

  /** A worker has ended that nobody has told to. */
  async function replace({ id }: Member, end: End): Promise<void> {
    if (isEnding) return;
    endedAt.push(performance.now());
    log.warn({ worker: id, ...end }, 'a worker has ended, and another one takes its place');
    await fill();
  }

  /** A worker was told to end from outside: it serves until another one does. */
  async function succeed(member: Member): Promise<void> {
    if (isEnding || !serving.delete(member)) return;
    log.info({ worker: member.id }, 'a worker is to end, and another one takes its place');
    await fill();
    // Otherwise it ends as all do.
    if (!isEnding) tellToEnd(member, true);
  }

  /** Starts one worker more, however often that takes. */
  async function fill(): Promise<void> {
    for (;;) {
      await sleep(pauseMs());
      if (isEnding) return;
      try {
        await enlist();
        failedStarts = 0;
        return;
      } catch (error) {
        if (isEnding) return;
        endedAt.push(performance.now());
        failedStarts += 1;
        log.error({ failedStarts }, 'a worker could not start');
        if (failedStarts >= startsInVain)
          return options.onGiveUp(error instanceof Error ? error.message : String(error));
      }
    }
  }

  function pauseMs(): number {
    const now = performance.now();
    endedAt = endedAt.filter((at) => now - at < rememberedMs);
    return endedAt.length === 0 ? 0 : Math.min(firstPauseMs * 2 ** (endedAt.length - 1), longestPauseMs);
  }

  async function metricsPage(): Promise<MetricsPage> {
    if (metrics === undefined) throw new Error('Nothing is counted');
    const counted = [...members].map(async (member) => {
      // One that ends meanwhile has said what it has counted.
      const counts = await member.calls.call('counts').catch(() => undefined);
      if (counts !== undefined && members.has(member)) metrics.take(member.id, counts);
    });
    await within(countsMs, counted);
    return metrics.page();
  }

  return {
    async start() {
      try {
        const [url] = await Promise.all([enlist(), ...Array.from({ length: options.size - 1 }, enlist)]);
        return url;
      } catch (error) {
        kill();
        throw error;
      }
    },
    async end(withinMs) {
      isEnding = true;
      for (const member of members) tellToEnd(member, false);
      const late = setTimeout(kill, withinMs);
      const ends = await Promise.all([...members].map(({ ended }) => ended));
      clearTimeout(late);
      return ends.every(({ code }) => code === 0);
    },
    kill,
    metricsPage,
  };

  function kill(): void {
    for (const member of members) member.kill();
  }
}

function tellToEnd({ calls }: Member, isReplaced: boolean): void {
  // It answers by its end.
  calls.call('end', isReplaced).catch(() => {});
}
