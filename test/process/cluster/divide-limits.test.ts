import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { divideLimits } from '../../../src/process/cluster/divide-limits.ts';

test('divideLimits divides the limits of the server among the workers', () => {
  const config = readConfig({ WORKERS: '3', RATE_LIMIT_POINTS_PER_SECOND: '100' });
  expect(divideLimits(config)).toEqual({
    ...config,
    maxConnections: 3_333,
    upstreamConnections: 21,
    graphqlRequestsAtOnce: 333,
    pointsPerSecond: 33,
  });
});

test('divideLimits leaves each worker at least one connection and one request', () => {
  const { upstreamConnections, graphqlRequestsAtOnce, pointsPerSecond } = divideLimits(
    readConfig({ WORKERS: '3', UPSTREAM_CONNECTIONS: '3', GRAPHQL_REQUESTS_AT_ONCE: '1' }),
  );
  expect([upstreamConnections, graphqlRequestsAtOnce, pointsPerSecond]).toEqual([1, 1, 0]);
});
