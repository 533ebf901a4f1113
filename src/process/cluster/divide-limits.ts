import type { Config } from '../../config/config.ts';

/** The settings of one worker: what bounds the server as a whole is divided among its workers, and no remainder used. */
export function divideLimits(config: Config): Config {
  const { rest, listener, app, workers } = config;
  // What may be 0 stays so; nothing else becomes it.
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
      callsWaiting: share(app.callsWaiting),
      documentCacheBytes: share(app.documentCacheBytes),
      persistedQueryBytes: share(app.persistedQueryBytes),
    },
  };
}
