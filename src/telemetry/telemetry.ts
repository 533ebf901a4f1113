import type { WatchedName } from '../rest/watch/parameter-watch.ts';
import { createDriftWatch } from '../rest/watch/schema-drift.ts';
import type { Log } from './log.ts';
import { createOutageLog } from './outage-log.ts';
import { createProblemLog } from './problem-log.ts';

export type Telemetry = Awaited<ReturnType<typeof startTelemetry>>;

/** The part of a key store that tells of its problems, each as a sentence. */
interface WatchedStore {
  failure(): string | undefined;
  fileProblem(): string | undefined;
  failover(): string | undefined;
  onReport(listener: () => void): void;
}

/** Starts the metrics and traces of this process. The library of a part that is off is not loaded. */
export async function startTelemetry(parts: { metrics: boolean; tracing: boolean }, log: Log) {
  const metrics = parts.metrics ? (await import('./metrics.ts')).createMetrics() : undefined;
  const tracing = parts.tracing ? await (await import('./otlp-tracing.ts')).createTracing(log) : undefined;
  const outages = createOutageLog(log);
  const parameters = createProblemLog(log, {
    begin: 'the REST service does not seem to know a query parameter of a list',
    end: 'the REST service now knows the query parameter of the list',
    msBetweenLines: 600_000,
  });
  const keyStore = createProblemLog(log, {
    begin: 'the key store has a problem',
    end: 'the key store works again',
  });
  metrics?.showProblems({ parameters: parameters.open, keyStore: keyStore.open });
  return {
    metrics,
    tracing,
    observers: [metrics?.calls, tracing?.calls, outages].filter((part) => part !== undefined),
    drift: createDriftWatch({
      onDifference: (coordinate, difference) => metrics?.drift(coordinate, difference),
      onNewDifference: (coordinate, difference) =>
        log.warn({ coordinate, drift: difference }, 'a REST record differs from the REST interface'),
    }),
    /** The signs that the names of the list parameters are wrong. */
    listNames: {
      onProblem: ({ setting, list }: WatchedName, problem: string) =>
        parameters.note({ setting, list }, problem),
      onKnown: ({ setting, list }: WatchedName) => parameters.noteGone({ setting, list }),
    },
    /** Follows the problems of the store until it is closed. */
    watchKeyStore(store: WatchedStore): void {
      const note = (kind: string, problem: string | undefined) =>
        problem === undefined ? keyStore.noteGone({ kind }) : keyStore.note({ kind }, problem);
      let hasFailedOver = false;
      const noteAll = () => {
        note('failure', store.failure());
        note('file', store.fileProblem());
        const failover = store.failover();
        if (failover !== undefined && !hasFailedOver)
          log.warn({ problem: failover }, 'the key store has failed over');
        hasFailedOver = failover !== undefined;
      };
      // The store may have a problem since it was opened.
      noteAll();
      store.onReport(noteAll);
    },
    /** Ends all outages and problems in the log. */
    endOutages(): void {
      for (const part of [outages, parameters, keyStore]) part.close();
    },
    close: () => tracing?.close(),
  };
}
