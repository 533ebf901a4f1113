import type { Log } from './log.ts';

/** What names a problem: values of few kinds, fit for the labels of a metric. */
export type ProblemLabels = Readonly<Record<string, string>>;

export interface ProblemTexts {
  /** The message of the line at the begin. */
  begin: string;
  /** The message of the line at the end. */
  end: string;
  /** A problem with the same labels has at most one pair of lines in this time, in milliseconds. By default 0. */
  msBetweenLines?: number;
}

interface OpenProblem {
  labels: ProblemLabels;
  since: string;
  startedAtMs: number;
  lastSignMs: number;
  /** Whether something has worked since the last sign. */
  isGone: boolean;
  isLogged: boolean;
}

// A full disk still has room for some writes, and a search may find a word by chance.
const minQuietMs = 10_000;

export type ProblemLog = ReturnType<typeof createProblemLog>;

/**
 * Logs the begin and the end of problems that have signs. A problem ends 10 seconds after its last sign, if something
 * has worked since.
 */
export function createProblemLog(log: Log, { begin, end, msBetweenLines = 0 }: ProblemTexts) {
  const problems = new Map<string, OpenProblem>();
  const lastBeginMs = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const keyOf = (labels: ProblemLabels) => Object.values(labels).join(' ');

  function start(labels: ProblemLabels, problem: string): void {
    const now = performance.now();
    const key = keyOf(labels);
    const lastMs = lastBeginMs.get(key);
    const isLogged = lastMs === undefined || now - lastMs >= msBetweenLines;
    const since = new Date().toISOString();
    problems.set(key, { labels, since, startedAtMs: now, lastSignMs: now, isGone: false, isLogged });
    timer ??= setInterval(endQuietOnes, 500).unref();
    if (!isLogged) return;
    lastBeginMs.set(key, now);
    log.warn({ ...labels, problem }, begin);
  }

  function endQuietOnes(): void {
    const now = performance.now();
    for (const problem of problems.values())
      if (problem.isGone && now - problem.lastSignMs >= minQuietMs) finish(problem);
    if (problems.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function finish({ labels, since, startedAtMs, isLogged }: OpenProblem, atShutdown?: true): void {
    problems.delete(keyOf(labels));
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    if (isLogged) log.warn({ ...labels, since, seconds, atShutdown }, end);
  }

  return {
    /** Notes a sign of a problem. `problem`: what is wrong and what to do, as a sentence without private texts. */
    note(labels: ProblemLabels, problem: string): void {
      if (isClosed) return;
      const open = problems.get(keyOf(labels));
      if (open === undefined) start(labels, problem);
      else {
        open.lastSignMs = performance.now();
        open.isGone = false;
      }
    },
    /** Notes that what had a problem works. */
    noteGone(labels: ProblemLabels): void {
      if (problems.size === 0) return;
      const open = problems.get(keyOf(labels));
      if (open !== undefined) open.isGone = true;
    },
    /** The labels of the problems that have not ended. */
    open: (): ProblemLabels[] => [...problems.values()].map(({ labels }) => labels),
    /** Ends all problems, so that each begin in the log has an end. */
    close(): void {
      isClosed = true;
      clearInterval(timer);
      for (const problem of problems.values()) finish(problem, true);
    },
  };
}
