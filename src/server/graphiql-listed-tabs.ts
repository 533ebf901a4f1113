import type { OperationList } from './documents/trusted-documents.ts';
import type { Tab } from './graphiql-tabs.ts';

const maxTabs = 20;

/** The tabs where the server runs the documents of a list alone: first what that means, then a tab of each. */
export function listedTabs(list: OperationList): readonly Tab[] {
  const shown = [...list.values()].slice(0, maxTabs);
  const which = shown.length === list.size ? 'They are' : `The first ${maxTabs} are`;
  const introduction = `# This server runs the ${list.size} documents of its list alone,
# to the letter. ${which} in the tabs beside this one.
# Other documents, and the introspection by which GraphiQL
# completes names, are refused unless the list has them.
`;
  return [introduction, ...shown].map((query) => ({ query, variables: null }));
}
