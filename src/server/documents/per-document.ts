import type { DocumentNode, OperationDefinitionNode } from 'graphql';

/**
 * A function of documents that computes its value once for each, and keeps it as long as the document itself is known.
 * For what depends on nothing else: not on variables, and not on the caller.
 */
export function perDocument<Value>(
  compute: (document: DocumentNode) => Value,
): (document: DocumentNode) => Value {
  return perNode<DocumentNode, void, Value>(compute);
}

/** The same for operations, of which a document may have several. `document` is the one that the operation is of. */
export const perOperation: <Value>(
  compute: (definition: OperationDefinitionNode, document: DocumentNode) => Value,
) => (definition: OperationDefinitionNode, document: DocumentNode) => Value = perNode;

function perNode<Node extends object, Around, Value>(
  compute: (node: Node, around: Around) => Value,
): (node: Node, around: Around) => Value {
  const values = new WeakMap<Node, { value: Value }>();
  return (node, around) => {
    let known = values.get(node);
    if (known === undefined) {
      known = { value: compute(node, around) };
      values.set(node, known);
    }
    return known.value;
  };
}
