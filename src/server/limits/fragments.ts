import type { DocumentNode, FragmentDefinitionNode, OperationDefinitionNode } from 'graphql';

/** The definitions of a document that can be run or spread. */
export interface Definitions {
  operations: OperationDefinitionNode[];
  fragments: Map<string, FragmentDefinitionNode>;
}

export function definitionsOf({ definitions }: DocumentNode): Definitions {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === 'OperationDefinition') operations.push(definition);
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
  }
  return { operations, fragments };
}
