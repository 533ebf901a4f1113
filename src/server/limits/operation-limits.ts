import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import { type CostPlan, type Count, costPlanOf, type OperationCostPlan } from './cost-plan.ts';
import { definitionsOf } from './fragments.ts';
import { firstOutOfRange, limitExceeded } from './limit-exceeded.ts';
import type { Limits } from './limits.ts';
import { introspectionSizes } from './list-size.ts';

/** The values of variables as they were sent, before they are held against their types. */
export type RawVariables = Readonly<Record<string, unknown>>;

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
      const { nodes, pages } = planOf(document, operation);
      const refusal = variables ? beyondLimits(limits, variables, 1) : undefined;
      if (refusal !== undefined) return refusal;
      for (const { count, maximum, coordinate, node } of pages) {
        const allowed = Math.min(maximum, limits.first);
        const first = numberOf(count, values);
        if (first < 0 || first > allowed) return firstOutOfRange(coordinate, allowed, first, node);
      }
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

function beyondLimits(
  limits: Limits,
  value: Readonly<Record<string, unknown>> | readonly unknown[],
  depth: number,
): GraphQLError | undefined {
  if (depth > limits.nesting) return limitExceeded('nesting', limits.nesting, `more than ${limits.nesting}`);
  if (isList(value)) {
    if (value.length > limits.listItems) {
      return limitExceeded('listItems', limits.listItems, value.length);
    }
    for (const item of value) {
      const refusal = isNested(item) ? beyondLimits(limits, item, depth + 1) : undefined;
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
  // What is parsed from JSON inherits nothing that is enumerable.
  for (const name in value) {
    const item = value[name];
    const refusal = isNested(item) ? beyondLimits(limits, item, depth + 1) : undefined;
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function isNested(value: unknown): value is Readonly<Record<string, unknown>> | readonly unknown[] {
  return typeof value === 'object' && value !== null;
}

function isList(value: object): value is readonly unknown[] {
  return Array.isArray(value);
}
