import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import { type CostPlan, type Count, costPlanOf, type OperationCostPlan } from './cost-plan.ts';
import { definitionsOf } from './fragments.ts';
import { areLarge, firstFaultOf } from './large-values.ts';
import { firstOutOfRange, limitExceeded } from './limit-exceeded.ts';
import type { Limits } from './limits.ts';
import { introspectionSizes } from './list-size.ts';
import { type RawVariables, valueSizeWithin } from './value-limits.ts';

/** How many things one operation writes at most; no client has a page on which a person confirms more. */
const maxWrites = 100;

export interface OperationLimits {
  /** The refusal of an operation of a valid document with these values, or undefined where it may run. */
  refusalOf(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: RawVariables | null | undefined,
  ): GraphQLError | undefined;
}

/** Holds operations with their values against the limits. What goes by the document alone is worked out once for each. */
export function createOperationLimits(schema: GraphQLSchema, limits: Limits): OperationLimits {
  const introspection = introspectionSizes(schema);
  const plans = new WeakMap<OperationDefinitionNode, OperationCostPlan>();

  function planOf(document: DocumentNode, operation: OperationDefinitionNode): OperationCostPlan {
    const known = plans.get(operation);
    if (known !== undefined) return known;
    const plan = costPlanOf(schema, operation, definitionsOf(document), introspection);
    plans.set(operation, plan);
    return plan;
  }

  return {
    refusalOf(document, operationName, variables) {
      const operation = getOperationAST(document, operationName);
      if (operation === null || operation === undefined) return undefined;
      const values = variables ?? {};
      const { nodes, pages, writes } = planOf(document, operation);
      if (variables) {
        const size = valueSizeWithin(limits, variables);
        if (size instanceof GraphQLError) return size;
        const fault = areLarge(size) ? firstFaultOf(schema, operation, variables) : undefined;
        if (fault !== undefined) return fault;
      }
      for (const { count, maximum, coordinate, node } of pages) {
        const allowed = Math.min(maximum, limits.first);
        const first = numberOf(count, values);
        if (first < 0 || first > allowed) return firstOutOfRange(coordinate, allowed, first, node);
      }
      const written = writes.reduce<number>((sum, count) => sum + numberOf(count, values), 0);
      if (written > maxWrites) return limitExceeded('writes', maxWrites, written, operation);
      const most = Math.ceil(totalOf(nodes, values));
      return most > limits.nodes ? limitExceeded('nodes', limits.nodes, most, operation) : undefined;
    },
  };
}

function numberOf(count: Count, variables: RawVariables): number {
  if (typeof count === 'number') return count;
  const { variable, of, standard } = count;
  const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
  return value === undefined ? standard : of(value);
}

/** Numbers too large to be counted exactly are as large as `Infinity`, and beyond any limit. */
function totalOf({ fixed, variable }: CostPlan, variables: RawVariables): number {
  let total = fixed;
  for (const { times, count, inner } of variable) {
    const items = numberOf(count, variables);
    // 0 times `Infinity` would be no number.
    if (items > 0 && times > 0) total += times * items * totalOf(inner, variables);
  }
  return total;
}
