import type { Config } from '../config/config.ts';
import type { KeyStore } from '../writes/store/key-store.ts';
import { describeStateFile } from './key-store.ts';
import type { Upstream } from './upstream.ts';

/** The text that is printed once the server listens. @param metricsUrl undefined if metrics are off */
export async function banner(
  url: URL,
  { description, bearer }: Upstream,
  { schemaAccess, operationsFile, stateFile }: Config,
  keyStore: Pick<KeyStore, 'failure'>,
  metricsUrl: URL | undefined,
): Promise<string> {
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
    `Keys      ${describeStateFile(stateFile, keyStore.failure())}`,
    ...(operationsFile === undefined ? example : [`Runs      only the documents of ${operationsFile}`]),
  ].join('\n');
}
