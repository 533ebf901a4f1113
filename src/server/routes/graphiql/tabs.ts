import { readdir, readFile } from 'node:fs/promises';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';

/** One tab of GraphiQL, in the form that it takes them. Its title is the name of the operation. */
export interface Tab {
  query: string;
  /** JSON, as the variables pane shows it. */
  variables: string | null;
}

/**
 * The ids of the sandbox's seed that the tabs name, and what stands for them before a live service, whose ids only its
 * merchant knows.
 */
const placeholders: readonly (readonly [id: string, placeholder: string])[] = [
  // A regular customer's order on its way, a new one of hers, and what she was written.
  ['orders/ca2481', 'orders/<order id>'],
  ['orders/ca2496', 'orders/<order id>'],
  ['channels/ca1/conversations/ca60', 'channels/<channel id>/conversations/<conversation id>'],
  ['origins/ca1', 'origins/<origin id>'],
  ['locations/huila-pitalito', 'locations/<location id>'],
];

const folder = new URL('./tabs/', import.meta.url);

/**
 * Reads the tabs that GraphiQL opens with: each is a file of graphiql-tabs/, with its variables in a file beside it. Lines
 * are at most 58 characters long, which is what a pane shows. GraphiQL takes no variables for the first tab.
 */
export async function readTabs(inSandbox: boolean): Promise<readonly Tab[]> {
  const files = (await readdir(folder)).sort();
  const read = (file: string) => readFile(new URL(file, folder), 'utf8');
  return Promise.all(
    files
      .filter((file) => file.endsWith('.graphql'))
      .map(async (file): Promise<Tab> => {
        const query = await read(file);
        const values = file.replace(/graphql$/, 'json');
        return {
          query: inSandbox
            ? query
            : placeholders.reduce((text, [id, other]) => text.replaceAll(id, other), query),
          variables: files.includes(values) ? (await read(values)).trimEnd() : null,
        };
      }),
  );
}

const maxListedTabs = 20;

/** The tabs where the server runs the documents of a list alone: first what that means, then a tab of each. */
export function listedTabs(list: TrustedDocuments): readonly Tab[] {
  const shown = [...list.values()].slice(0, maxListedTabs);
  const which = shown.length === list.size ? 'They are' : `The first ${maxListedTabs} are`;
  const introduction = `# This server runs the ${list.size} documents of its list alone,
# to the letter. ${which} in the tabs beside this one.
# Other documents, and the introspection by which GraphiQL
# completes names, are refused unless the list has them.
`;
  return [introduction, ...shown].map((query) => ({ query, variables: null }));
}
