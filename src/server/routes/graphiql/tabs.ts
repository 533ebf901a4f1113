import { readdir, readFile } from 'node:fs/promises';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';

/** One tab, in GraphiQL's format. GraphiQL shows the operation name as title. */
export interface Tab {
  query: string;
  /** The JSON in the variables pane. */
  variables: string | null;
}

/** The sandbox ids in the tabs, with the placeholders that replace them for a live service. */
const placeholders = {
  // An order in progress of a returning customer, a new order of hers, and the conversation with her.
  'orders/ca2481': 'orders/<order id>',
  'orders/ca2496': 'orders/<order id>',
  'channels/ca1/conversations/ca60': 'channels/<channel id>/conversations/<conversation id>',
  'origins/ca1': 'origins/<origin id>',
  'locations/huila-pitalito': 'locations/<location id>',
};

const folder = new URL('./tabs/', import.meta.url);

/**
 * Reads the initial tabs: the `.graphql` files of tabs/, with variables in a `.json` file of the same name.
 * No line is longer than 58 characters, the width of a pane. GraphiQL ignores variables of the first tab.
 * @param inSandbox false: placeholders replace the sandbox ids.
 */
export async function readTabs(inSandbox: boolean): Promise<readonly Tab[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.graphql')).sort();
  return Promise.all(files.map((file) => readTab(file, inSandbox)));
}

async function readTab(file: string, inSandbox: boolean): Promise<Tab> {
  let query = await readFile(new URL(file, folder), 'utf8');
  if (!inSandbox)
    for (const [id, placeholder] of Object.entries(placeholders)) query = query.replaceAll(id, placeholder);
  const variables = readFile(new URL(file.replace(/graphql$/, 'json'), folder), 'utf8');
  return { query, variables: await variables.then((json) => json.trimEnd()).catch(() => null) };
}

const maxListedTabs = 20;

/** The tabs of a server with trusted documents: an explanation, then a tab per document. */
export function trustedDocumentTabs(trustedDocuments: TrustedDocuments): readonly Tab[] {
  const shownDocuments = [...trustedDocuments.values()].slice(0, maxListedTabs);
  const whichDocuments =
    shownDocuments.length === trustedDocuments.size ? 'All of them are' : `The first ${maxListedTabs} are`;
  const introduction = `# This server runs only the ${trustedDocuments.size} documents of its list.
# ${whichDocuments} in the other tabs.
# Here, a query must have the exact text of one of them.
# The server rejects all other documents. The editor
# suggests names only if the list contains the introspection
# query of GraphiQL.
`;
  return [introduction, ...shownDocuments].map((query) => ({ query, variables: null }));
}
