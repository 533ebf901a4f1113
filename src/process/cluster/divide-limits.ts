import type { Config } from '../../config/config.ts';

/** The settings of one worker, with its share of the limits of the whole server. */
export function divideLimits(config: Config): Config {
  // A limit of 0 stays 0, because 0 switches a feature off. Any other limit stays at least 1.
  const share = (whole: number) => Math.min(whole, Math.max(1, Math.floor(whole / config.workers)));
  return {
    ...config,
    upstreamConnections: share(config.upstreamConnections),
    graphqlRequestsAtOnce: share(config.graphqlRequestsAtOnce),
    maxConnections: share(config.maxConnections),
    pointsPerSecond: share(config.pointsPerSecond),
  };
}
