import type { OperationDefinitionNode } from 'graphql';

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
