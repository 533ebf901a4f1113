import type { DocumentNode, OperationDefinitionNode } from 'graphql';

/**
 * Memoizes a function per operation. A value is kept while the operation's document is cached.
 * @param compute must depend on the operation and its document alone, and not on variables or the tenant.
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
