import {
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql';

/** The values of the variables in @skip and @include, by name. */
export type Outcome = Readonly<Record<string, unknown>>;

/** The names of the variables that may be in @skip and @include: the Boolean ones. */
export function conditionVariables({ variableDefinitions = [] }: OperationDefinitionNode): string[] {
  return variableDefinitions.flatMap(({ type, variable }) => {
    const nullableType = type.kind === 'NonNullType' ? type.type : type;
    const isBoolean = nullableType.kind === 'NamedType' && nullableType.name.value === 'Boolean';
    return isBoolean ? [variable.name.value] : [];
  });
}

/** Whether @skip and @include leave a selection in. @throws GraphQLError if a condition is null. */
export function isIncluded(selection: SelectionNode, outcome: Outcome): boolean {
  if (selection.directives === undefined || selection.directives.length === 0) return true;
  const variableValues = { sources: {}, coerced: outcome };
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if !== false
  );
}
