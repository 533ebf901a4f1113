import type { Config } from '../../config/config.ts';

/** The settings of one worker, with its part of the limits of the whole server. */
export function divideLimits(config: Config): Config {
  // A limit of 0 stays 0, because 0 switches a feature off. Any other limit stays at least 1.
  const perWorker = (whole: number) => Math.min(whole, Math.max(1, Math.floor(whole / config.workers)));
  return {
    ...config,
    upstreamConnections: perWorker(config.upstreamConnections),
    graphqlRequestsAtOnce: perWorker(config.graphqlRequestsAtOnce),
    maxConnections: perWorker(config.maxConnections),
    pointsPerSecond: perWorker(config.pointsPerSecond),
  };
}
