import type { DocumentNode } from 'graphql';

/**
 * A function of documents that computes its value once for each, and keeps it as long as the document itself is known.
 * For what depends on nothing else: not on variables, and not on the caller.
 */
export function perDocument<Value>(
  compute: (document: DocumentNode) => Value,
): (document: DocumentNode) => Value {
  const values = new WeakMap<DocumentNode, { value: Value }>();
  return (document) => {
    let known = values.get(document);
    if (known === undefined) {
      known = { value: compute(document) };
      values.set(document, known);
    }
    return known.value;
  };
}
