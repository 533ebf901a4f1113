import type { GraphQLError, GraphQLSchema } from 'graphql';
import type { Operation, RawVariables } from '../document-syntax/operation.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import { collectDefinitions } from '../document-syntax/selections.ts';
import { type Limits, limitError, limitExceeded } from './limits.ts';
import { estimateNodes } from './node-count.ts';

/** A write costs REST as much as a page of this many rows. */
const pointsPerWrite = 10;

/**
 * Creates the check of an operation of a valid document. It returns the error if a limit is exceeded, and otherwise the
 * weight: the objects and rows of the response at most, and 10 for each write.
 */
export function createLimitCheck(
  schema: GraphQLSchema,
  limits: Limits,
): (operation: Operation) => GraphQLError | number {
  const estimate = perOperation((definition, document) =>
    estimateNodes(schema, definition, collectDefinitions(document).fragments),
  );

  return ({ document, definition, variables = {} }) => {
    if (hasMoreValues(variables, limits.values))
      return limitExceeded('values', limits.values, `more than ${limits.values}`);
    const { nodes, pages, writes } = estimate(definition, document);
    for (const { first, maximum, coordinate, node } of pages) {
      const count = first(variables);
      if (count < 0 || count > maximum) {
        const message = `Expected "first" of ${coordinate} to be from 0 to ${maximum}, but got ${count}.`;
        return limitError(message, node);
      }
    }
    const writeCount = writes(variables);
    if (writeCount > limits.writes) return limitExceeded('writes', limits.writes, writeCount, definition);
    const nodeCount = Math.ceil(nodes(variables)) + pointsPerWrite * writeCount;
    return nodeCount > limits.nodes ? limitExceeded('nodes', limits.nodes, nodeCount, definition) : nodeCount;
  };
}

/** Whether variables have more fields and items. An error of the executor prints the object around the value. */
function hasMoreValues(variables: RawVariables, allowed: number): boolean {
  // Without recursion, because a client may nest values more deeply than the stack allows.
  const pending: object[] = [variables];
  let values = 0;
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    const children: readonly unknown[] = Array.isArray(parent) ? parent : Object.values(parent);
    values += children.length;
    if (values > allowed) return true;
    for (const value of children) if (typeof value === 'object' && value !== null) pending.push(value);
  }
  return false;
}
