import {
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  type SelectionNode,
  type VariableValues,
} from 'graphql';

/** Whether @skip and @include leave a selection in. @throws GraphQLError if a condition is null. */
export function isIncluded(selection: SelectionNode, variableValues: VariableValues): boolean {
  if (selection.directives === undefined || selection.directives.length === 0) return true;
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if !== false
  );
}
