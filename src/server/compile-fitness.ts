import type {
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';

// Far beyond what people write. Compiling costs by the selections with every fragment spread out, and blocks the process.
const maxSelections = 1_000;
const maxDepth = 20;

/**
 * Whether a query may run compiled: compiled queries lose or add fields where fragments stand under conditions, so it
 * has no directive, and it is small enough, fragments spread out, to be compiled in passing.
 */
export function isFitToCompile(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition);
  }
  let count = 0;

  function fits(set: SelectionSetNode | undefined, depth: number): boolean {
    if (set === undefined) return true;
    if (depth > maxDepth) return false;
    return set.selections.every((selection) => {
      count += 1;
      if (count > maxSelections || (selection.directives?.length ?? 0) > 0) return false;
      if (selection.kind === 'FragmentSpread') {
        return fits(fragments.get(selection.name.value)?.selectionSet, depth + 1);
      }
      return fits(selection.selectionSet, depth + 1);
    });
  }

  return fits(operation.selectionSet, 1);
}
