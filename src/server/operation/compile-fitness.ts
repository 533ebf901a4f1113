import type { DocumentNode, OperationDefinitionNode, SelectionSetNode } from 'graphql';
import { definitionsOf } from '../limits/fragments.ts';

// Far beyond what people write. A plan holds the selections with every fragment spread out.
const maxSelections = 1_000;
const maxDepth = 20;

// Compiled queries assign what a field gives to a plain object, where this is no name like others.
const unfitAlias = '__proto__';

/**
 * Whether a query may run compiled: it has no directive, as conditions would make each run another query, and it is small
 * enough, fragments spread out.
 */
export function isFitToCompile(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  const { fragments } = definitionsOf(document);
  let count = 0;

  function fits(set: SelectionSetNode | undefined, depth: number): boolean {
    if (set === undefined) return true;
    if (depth > maxDepth) return false;
    return set.selections.every((selection) => {
      count += 1;
      if (count > maxSelections || (selection.directives?.length ?? 0) > 0) return false;
      if (selection.kind === 'Field' && selection.alias?.value === unfitAlias) return false;
      if (selection.kind === 'FragmentSpread') {
        return fits(fragments.get(selection.name.value)?.selectionSet, depth + 1);
      }
      return fits(selection.selectionSet, depth + 1);
    });
  }

  return fits(operation.selectionSet, 1);
}
