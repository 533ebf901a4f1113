import {
  type DocumentNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  type SelectionNode,
  visit,
} from 'graphql';

/** The values of the variables in @skip and @include, by name. */
export type Outcome = Readonly<Record<string, unknown>>;

/** The names of the variables in the @skip and @include of a document, each once. */
export function conditionVariables(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    // A valid operation has no other directives.
    Directive({ arguments: args = [] }) {
      for (const { value } of args) if (value.kind === 'Variable') names.add(value.name.value);
    },
  });
  return [...names];
}

/**
 * Whether @skip and @include leave a selection in.
 * @throws GraphQLError if a condition is null, which a nullable variable with a default may be.
 */
export function isIncluded(selection: SelectionNode, outcome: Outcome): boolean {
  if (selection.directives === undefined || selection.directives.length === 0) return true;
  const variableValues = { sources: {}, coerced: outcome };
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if !== false
  );
}
