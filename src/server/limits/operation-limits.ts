import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import { firstOutOfRange, fixedLimits, type Limits, limitExceeded } from './limits.ts';
import { introspectionSizes } from './list-size.ts';
import { type CostEstimate, estimateCost, resolveCount, resolveNodeCount } from './node-cost.ts';
import { definitionsOf } from './selections.ts';
import { type RawVariables, variablesError } from './variable-limits.ts';

/** Checks operations with their variables against the limits. */
export interface OperationLimits {
  /** The error for an operation of a valid document that exceeds a limit. Undefined if the operation may run. */
  errorOf(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: RawVariables | null | undefined,
  ): GraphQLError | undefined;
}

/** Creates the check. The cost of each operation is estimated once, and evaluated again for each set of variables. */
export function createOperationLimits(schema: GraphQLSchema, limits: Limits): OperationLimits {
  const introspection = introspectionSizes(schema);
  const costs = new WeakMap<OperationDefinitionNode, CostEstimate>();

  function costOf(document: DocumentNode, operation: OperationDefinitionNode): CostEstimate {
    const cachedCost = costs.get(operation);
    if (cachedCost !== undefined) return cachedCost;
    const { fragments } = definitionsOf(document);
    const cost = estimateCost(schema, introspection, operation, (name) => fragments.get(name));
    costs.set(operation, cost);
    return cost;
  }

  return {
    errorOf(document, operationName, variables) {
      const operation = getOperationAST(document, operationName);
      if (operation === null || operation === undefined) return undefined;
      const error = variables ? variablesError(schema, limits, operation, variables) : undefined;
      if (error !== undefined) return error;
      const values = variables ?? {};
      const { nodes, pages, writes } = costOf(document, operation);
      for (const { count, maximum, coordinate, node } of pages) {
        const allowed = Math.min(maximum, limits.first);
        const first = resolveCount(count, values);
        if (first < 0 || first > allowed) return firstOutOfRange(coordinate, allowed, first, node);
      }
      const writeCount = writes.reduce<number>((sum, count) => sum + resolveCount(count, values), 0);
      if (writeCount > fixedLimits.writes)
        return limitExceeded('writes', fixedLimits.writes, writeCount, operation);
      const nodeCount = Math.ceil(resolveNodeCount(nodes, values));
      return nodeCount > limits.nodes
        ? limitExceeded('nodes', limits.nodes, nodeCount, operation)
        : undefined;
    },
  };
}
