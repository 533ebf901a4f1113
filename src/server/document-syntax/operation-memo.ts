import type { DocumentNode, OperationDefinitionNode } from 'graphql';

/**
 * Memoizes a function per operation, as long as its document is cached.
 * @param compute must depend on the operation and its document alone, and not on variables or the tenant.
 */
export function perOperation<Value>(
  compute: (definition: OperationDefinitionNode, document: DocumentNode) => NonNullable<Value>,
): typeof compute {
  const values = new WeakMap<OperationDefinitionNode, NonNullable<Value>>();
  return (definition, document) => {
    const known = values.get(definition);
    if (known !== undefined) return known;
    const value = compute(definition, document);
    values.set(definition, value);
    return value;
  };
}
