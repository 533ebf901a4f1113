import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type LiveMetrics = ReturnType<typeof createLiveMetrics>;

/** The metrics of streams: of subscriptions that clients watch. */
export function createLiveMetrics(registers: Registry[]) {
  const looks = new Counter({
    name: 'waybill_live_runs_total',
    help: 'Runs of watched operations, by outcome. changed: the response differs from the previous response. same: both responses are equal. failed: the response has errors. waited: the token had no points or slots. left: the last client disconnected during the run.',
    labelNames: ['outcome'],
    registers,
  });
  const pushes = new Histogram({
    name: 'waybill_live_push_seconds',
    help: 'Time from the start of a run that found a change until the connection of a client has taken the event.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  return {
    /** Counts a run that has ended. */
    looked: (outcome: string) => looks.inc({ outcome }),
    /** An event that a client's connection has taken, after `ms` milliseconds. */
    pushed: (ms: number) => pushes.observe(ms / 1_000),
    /** `read` is called for every page. */
    showStreams(read: () => number): void {
      new Gauge({
        name: 'waybill_live_streams',
        help: 'Open streams of subscriptions.',
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };
}
