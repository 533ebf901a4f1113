import { readdir, readFile } from 'node:fs/promises';
import { counted } from '../../../base/counted.ts';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';

const folder = new URL('./tabs/', import.meta.url);

const sandboxId = /(\w+)s\/(?:ca\d+|huila-pitalito)/g;

/**
 * Reads the queries of the initial tabs: the `.graphql` files of tabs/. GraphiQL shows the operation name as title. No line
 * is longer than 48 characters, the width of a pane in a window of 1,280 pixels.
 * @param inSandbox false: placeholders such as `orders/<order id>` replace the sandbox ids.
 */
export async function readTabs(inSandbox: boolean): Promise<readonly string[]> {
  const files = (await readdir(folder)).sort();
  const queries = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  return inSandbox ? queries : queries.map((query) => query.replaceAll(sandboxId, '$1s/<$1 id>'));
}

const maxListedTabs = 20;

/** The tabs of a server with trusted documents: an explanation, then a tab per document. */
export function trustedDocumentTabs(trustedDocuments: TrustedDocuments): readonly string[] {
  const introduction = `# This server runs only the ${counted(trustedDocuments.size, 'document')} of
# its list. Up to ${maxListedTabs} of them are in the other
# tabs. A query that you write must have the
# exact text of a document of the list. The
# server rejects all others. The editor suggests
# names only if the list contains the
# introspection query of GraphiQL.
`;
  return [introduction, ...[...trustedDocuments.values()].slice(0, maxListedTabs)];
}
