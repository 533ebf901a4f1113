import type { Config } from '../../config/config.ts';

/**
 * Returns the settings of one worker: limits of the whole server are divided by the number of workers, rounded down.
 */
export function divideLimits(config: Config): Config {
  const { rest, listener, app, workers } = config;
  // A limit of 0 stays 0, because 0 switches a feature off. Any other limit stays at least 1.
  const share = (whole: number) => Math.min(whole, Math.max(1, Math.floor(whole / workers)));
  const connections = share(rest.connections);
  const loadShedding = { graphql: share(app.loadShedding.graphql), label: share(app.loadShedding.label) };
  return {
    ...config,
    listener: { ...listener, maxConnections: share(listener.maxConnections) },
    rest: { ...rest, connections, streamConnections: loadShedding.label },
    app: {
      ...app,
      loadShedding,
      callsAtOnce: connections,
      pointsPerSecond: share(app.pointsPerSecond),
      documentCacheBytes: share(app.documentCacheBytes),
      persistedQueryBytes: share(app.persistedQueryBytes),
    },
  };
}
