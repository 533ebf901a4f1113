import type { DocumentNode, OperationDefinitionNode } from 'graphql';

/**
 * A function of operations that computes its value once for each, and keeps it as long as the operation itself is known.
 * For what depends on nothing else: not on variables, and not on the caller. `document` is the one that the operation is of.
 */
export function perOperation<Value>(
  compute: (definition: OperationDefinitionNode, document: DocumentNode) => Value,
): (definition: OperationDefinitionNode, document: DocumentNode) => Value {
  const values = new WeakMap<OperationDefinitionNode, { value: Value }>();
  return (definition, document) => {
    let entry = values.get(definition);
    if (entry === undefined) {
      entry = { value: compute(definition, document) };
      values.set(definition, entry);
    }
    return entry.value;
  };
}
