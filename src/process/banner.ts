import type { Config } from '../config/config.ts';
import type { KeyStore } from '../writes/store/key-store.ts';
import { describeState } from './open-key-store.ts';
import type { Upstream } from './upstream.ts';

/** The text that is printed once the server listens. @param metricsUrl undefined if metrics are off */
export async function banner(
  url: URL,
  { description, bearer }: Upstream,
  config: Config,
  keyStore: Pick<KeyStore, 'failure'>,
  metricsUrl: URL | undefined,
): Promise<string> {
  const { schemaAccess, operationsFile } = config;
  const query = JSON.stringify({
    query: '{ orders(first: 3) { nodes { id status recipient { fullName } } } }',
  });
  const example = [
    `Try       curl -s ${url.href}graphql -H 'content-type: application/json' \\`,
    `            -H 'authorization: Bearer ${bearer ?? '<access token>'}' -d '${query}'`,
  ];
  return [
    `${schemaAccess === 'private' ? 'GraphQL  ' : 'GraphiQL '} ${url.href}graphql`,
    `REST      ${await description}`,
    ...(metricsUrl === undefined ? [] : [`Metrics   ${metricsUrl.href}metrics`]),
    `Keys      ${describeState(config, keyStore.failure())}`,
    ...(operationsFile === undefined ? example : [`Runs      only the documents of ${operationsFile}`]),
  ].join('\n');
}
