import { GraphQLError, type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from 'graphql';
import type { Operation, RawVariables } from '../document-syntax/operation.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import { collectDefinitions } from '../document-syntax/selections.ts';
import { firstOutOfRange, type Limits, limitExceeded } from './limits.ts';
import { introspectionSizes } from './list-size.ts';
import { estimateNodes, resolveCount, resolveNodeCount } from './node-count.ts';

/** Checks operations with their variables against the limits. */
export interface OperationLimits {
  /**
   * Checks an operation of a valid document.
   * @returns the error if a limit is exceeded, and otherwise the weight: the objects that the response has and the rows
   * that pages ask of REST at most, and 10 for each write.
   */
  check(operation: Operation): GraphQLError | number;
}

/** Creates the check. The nodes of an operation are estimated once, and counted again for each set of variables. */
export function createOperationLimits(schema: GraphQLSchema, limits: Limits): OperationLimits {
  const introspection = introspectionSizes(schema);
  const estimate = perOperation((definition, document) => {
    const { fragments } = collectDefinitions(document);
    return estimateNodes(schema, introspection, definition, (name) => fragments.get(name));
  });

  return {
    check({ document, definition, variables = {} }) {
      const error = checkVariables(schema, limits, definition, variables);
      if (error !== undefined) return error;
      const { nodes, pages, writes } = estimate(definition, document);
      for (const { count, maximum, coordinate, node } of pages) {
        const first = resolveCount(count, variables);
        if (first < 0 || first > maximum) return firstOutOfRange(coordinate, maximum, first, node);
      }
      const writeCount = writes.reduce<number>((sum, count) => sum + resolveCount(count, variables), 0);
      if (writeCount > limits.writes) {
        return limitExceeded('writes', limits.writes, writeCount, definition);
      }
      const nodeCount = Math.ceil(resolveNodeCount(nodes, variables)) + pointsPerWrite * writeCount;
      return nodeCount > limits.nodes
        ? limitExceeded('nodes', limits.nodes, nodeCount, definition)
        : nodeCount;
    },
  };
}

/** A write costs REST as much as a page of this many rows. */
const pointsPerWrite = 10;

// Up to these sizes, the executors find up to 100 errors in a few milliseconds.
const maxValuesChecked = 500;
const maxCharactersChecked = 8_192;

/**
 * The error for variables with too many values. For large variables within the limit, the first coercion error.
 * Undefined if there is none, and for small variables, whose coercion errors the executor reports. A coercion error
 * quotes the object around the value, so its cost grows with the object.
 */
function checkVariables(
  schema: GraphQLSchema,
  limits: Limits,
  operation: OperationDefinitionNode,
  variables: RawVariables,
): GraphQLError | undefined {
  // Without recursion, because a client may nest values more deeply than the stack allows.
  const pending: object[] = [variables];
  let values = 0;
  let characters = 0;
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    const names = Array.isArray(parent) ? [] : Object.keys(parent);
    values += Array.isArray(parent) ? parent.length : names.length;
    if (values > limits.values) return limitExceeded('values', limits.values, `more than ${limits.values}`);
    for (const name of names) characters += name.length;
    const children: readonly unknown[] = Array.isArray(parent) ? parent : Object.values(parent);
    for (const value of children) {
      if (typeof value === 'string') characters += value.length;
      if (typeof value === 'object' && value !== null) pending.push(value);
    }
  }
  if (values <= maxValuesChecked && characters <= maxCharactersChecked) return undefined;
  const { variableDefinitions = [] } = operation;
  const options = { maxErrors: 1, hideSuggestions: true };
  const [error] = getVariableValues(schema, variableDefinitions, variables, options).errors ?? [];
  if (error === undefined) return undefined;
  const { message, nodes } = error;
  return new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } } });
}
