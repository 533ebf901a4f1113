import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { divideLimits } from '../../../src/process/cluster/divide-limits.ts';

test('what bounds the server as a whole is divided among its workers, and all else is as it was', () => {
  const config = readConfig({ WORKERS: '3', RATE_LIMIT_POINTS_PER_SECOND: '100' });
  expect(divideLimits(config)).toEqual({
    ...config,
    listener: { ...config.listener, maxConnections: 3_333 },
    rest: { ...config.rest, connections: 21, streamConnections: 10 },
    app: {
      ...config.app,
      loadShedding: { graphql: 333, label: 10 },
      callsAtOnce: 21,
      pointsPerSecond: 33,
      documentCacheBytes: 22_369_621,
      persistedQueryBytes: 5_592_405,
    },
  });
});

test('each has at least one of what there must be, and none of what was switched off', () => {
  const { app, rest } = divideLimits(
    readConfig({
      WORKERS: '3',
      UPSTREAM_CONNECTIONS: '3',
      LABEL_REQUESTS_AT_ONCE: '2',
      DOCUMENT_CACHE_BYTES: '0',
    }),
  );
  expect([rest.connections, app.loadShedding.label, app.documentCacheBytes]).toEqual([1, 1, 0]);
});
