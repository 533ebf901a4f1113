import type { DocumentNode, OperationDefinitionNode } from 'graphql';

/**
 * A function of documents that computes its value once for each, and keeps it as long as the document itself is known.
 * For what depends on nothing else: not on variables, and not on the caller.
 */
export const perDocument: <Value>(
  compute: (document: DocumentNode) => Value,
) => (document: DocumentNode) => Value = perNode;

/** The same for operations, of which a document may have several. `document` is the one that the operation is of. */
export const perOperation: <Value>(
  compute: (definition: OperationDefinitionNode, document: DocumentNode) => Value,
) => (definition: OperationDefinitionNode, document: DocumentNode) => Value = perNode;

function perNode<Node extends object, More extends unknown[], Value>(
  compute: (node: Node, ...more: More) => Value,
): (node: Node, ...more: More) => Value {
  const values = new WeakMap<Node, { value: Value }>();
  return (node, ...more) => {
    let known = values.get(node);
    if (known === undefined) {
      known = { value: compute(node, ...more) };
      values.set(node, known);
    }
    return known.value;
  };
}
