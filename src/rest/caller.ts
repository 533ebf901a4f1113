import pLimit from 'p-limit';

/** On whose behalf calls are made, until when, and how many at once. One per GraphQL operation. */
export interface Caller {
  /** The access token, passed through as it came. */
  bearer: string;
  signal: AbortSignal;
  /** Runs a call when fewer than the allowed number are running. */
  schedule<Answer>(call: () => Promise<Answer>): Promise<Answer>;
}

/** A caller that has at most `maxConcurrency` calls under way at a time. */
export function createCaller(bearer: string, signal: AbortSignal, maxConcurrency: number): Caller {
  return { bearer, signal, schedule: pLimit(maxConcurrency) };
}
