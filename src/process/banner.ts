import type { Config } from '../config/config.ts';
import type { Upstream } from './upstream.ts';

/**
 * What is said once the server listens: where it is, before which service, and how to try it.
 * @param metricsUrl the server that has the metrics; undefined where none are shown.
 */
export function banner(
  url: URL,
  { description, bearer }: Upstream,
  { app, operationsFile, workers }: Config,
  metricsUrl: URL | undefined,
): string {
  const where = [
    `${app.schemaAccess === 'private' ? 'GraphQL  ' : 'GraphiQL '} ${url.href}graphql`,
    `REST      ${description}`,
    ...(metricsUrl === undefined ? [] : [`Metrics   ${metricsUrl.href}metrics`]),
    ...(workers === 1 ? [] : [`Workers   ${workers}`]),
  ];
  if (operationsFile !== undefined) {
    return [...where, `Runs      what is in ${operationsFile} alone`].join('\n');
  }
  const query = JSON.stringify({
    query: '{ orders(first: 3) { nodes { id status recipient { fullName } } } }',
  });
  return [
    ...where,
    `Try       curl -s ${url.href}graphql -H 'content-type: application/json' \\`,
    `            -H 'authorization: Bearer ${bearer ?? '<access token>'}' -d '${query}'`,
  ].join('\n');
}
