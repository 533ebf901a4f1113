import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import { createSelectionSizes, definitionsOf } from '../limits/selections.ts';

// Far beyond what people write. A plan holds the selections with every fragment spread out.
const maxSelections = 1_000;
const maxDepth = 20;

// Compiled queries assign what a field gives to a plain object, where this is no name like others.
const unfitAlias = '__proto__';

/**
 * Whether a query may run compiled: it has no directive, as conditions would make each run another query, and it is small
 * enough, fragments spread out. A text that may have the unfit alias is left to the executor.
 */
export function isFitToCompile(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (document.loc?.source.body.includes(unfitAlias) !== false) return false;
  const { fragments } = definitionsOf(document);
  const size = createSelectionSizes((name) => fragments.get(name)).of(operation);
  const { selections, directives, depth, introspectionDepth } = size;
  return selections <= maxSelections && directives === 0 && Math.max(depth, introspectionDepth) <= maxDepth;
}
