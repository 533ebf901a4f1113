import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { defaultFirst } from '../../graph/connection.ts';
import type { Definitions } from './fragments.ts';
import { type ListSize, listSizeOf } from './list-size.ts';

/** Where the number of items of a list comes from: from the document, or from a variable. */
export type Count = number | VariableCount;

export interface VariableCount {
  variable: string;
  /** Counts the variable's value as JSON has it; what is no fit for the type counts as nothing, as it is refused. */
  of: (value: unknown) => number;
  /** The count where the variable is left out. */
  standard: number;
}

/** A page that an operation asks for. */
export interface PageCheck {
  count: Count;
  maximum: number;
  /** `Order.shipments`, to tell which one it is. */
  coordinate: string;
  node: FieldNode;
}

/**
 * How many objects an operation can give: so many for certain, and others as often as variables say. Objects are the
 * items of lists and, beside these, what has an id; what is always part of another object is not counted by itself.
 */
export interface CostPlan {
  fixed: number;
  variable: { times: number; count: VariableCount; inner: CostPlan }[];
}

export interface OperationCostPlan {
  nodes: CostPlan;
  pages: PageCheck[];
  /** Of each field of a mutation, how many things it writes. */
  writes: Count[];
}

/** Plans an operation of a valid document. Fields of one name are answered as one, and so are counted as one. */
export function costPlanOf(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  { fragments }: Definitions,
  introspection: ReadonlyMap<string, number>,
): OperationCostPlan {
  const pages: PageCheck[] = [];
  const writes: Count[] = [];
  const defaults = new Map<string, unknown>();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (defaultValue) defaults.set(variable.name.value, valueFromASTUntyped(defaultValue));
  }

  function planOf(parent: GraphQLCompositeType, sets: readonly SelectionSetNode[], page: Count): CostPlan {
    const plan: CostPlan = { fixed: 0, variable: [] };
    const fields = new Map<string, { type: GraphQLCompositeType; nodes: FieldNode[] }>();
    const spread = new Set<string>();
    for (const set of sets) collect(parent, set, fields, spread);
    for (const { type, nodes } of fields.values()) addField(plan, type, nodes, page);
    return plan;
  }

  /** Fields of one name that belong to different types are kept apart: only one of them is answered, if any. */
  function collect(
    type: GraphQLCompositeType,
    { selections }: SelectionSetNode,
    fields: Map<string, { type: GraphQLCompositeType; nodes: FieldNode[] }>,
    spread: Set<string>,
  ): void {
    for (const selection of selections) {
      if (selection.kind === 'Field') {
        const key = `${type.name}.${(selection.alias ?? selection.name).value}`;
        const same = fields.get(key);
        if (same === undefined) fields.set(key, { type, nodes: [selection] });
        else same.nodes.push(selection);
        continue;
      }
      const fragment = selection.kind === 'InlineFragment' ? selection : fragments.get(selection.name.value);
      if (fragment === undefined) continue;
      const condition = fragment.typeCondition?.name.value;
      const narrowed = condition === undefined ? type : schema.getType(condition);
      if (!isCompositeType(narrowed)) continue;
      if (selection.kind === 'FragmentSpread') {
        const key = `${type.name}.${selection.name.value}`;
        if (spread.has(key)) continue;
        spread.add(key);
      }
      collect(narrowed, fragment.selectionSet, fields, spread);
    }
  }

  function addField(plan: CostPlan, parent: GraphQLCompositeType, nodes: FieldNode[], page: Count): void {
    const [node] = nodes;
    const field = node && schema.getField(parent, node.name.value);
    if (node === undefined || field === undefined) return;
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return;
    const coordinate = `${parent.name}.${field.name}`;
    const average = introspection.get(coordinate);
    const size: ListSize | undefined =
      average === undefined ? listSizeOf(parent, field) : { by: 'estimate', items: average };
    if (parent === schema.getMutationType()) writes.push(size?.by === 'argument' ? sizeOf(size, node, 0) : 1);
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (size?.by === 'first') {
      const count = countOf(node, 'first', rowsOf, defaultFirst);
      pages.push({ count, maximum: size.maximum, coordinate, node });
      add(plan, 1, planOf(type, sets, count));
      return;
    }
    const inner = planOf(type, sets, 0);
    if (size !== undefined) {
      inner.fixed += 1;
      add(plan, sizeOf(size, node, page), inner);
    } else {
      // The node of an edge is counted with the edge.
      if (isRecord(schema, type) && !parent.name.endsWith('Edge')) inner.fixed += 1;
      add(plan, 1, inner);
    }
  }

  function sizeOf(size: Exclude<ListSize, { by: 'first' }>, node: FieldNode, page: Count): Count {
    if (size.by === 'page') return page;
    if (size.by === 'estimate') return size.items;
    return countOf(node, size.argument.name, lengthOf, 0);
  }

  function countOf(
    node: FieldNode,
    argument: string,
    of: (value: unknown) => number,
    standard: number,
  ): Count {
    const value: ValueNode | undefined = node.arguments?.find(({ name }) => name.value === argument)?.value;
    if (value === undefined) return standard;
    if (value.kind === 'Variable') {
      const variable = value.name.value;
      return {
        variable,
        of,
        standard: defaults.has(variable) ? of(defaults.get(variable)) : standard,
      };
    }
    return of === lengthOf && value.kind === 'ListValue'
      ? value.values.length
      : of(valueFromASTUntyped(value));
  }

  const root = schema.getRootType(operation.operation);
  const nodes =
    root === undefined || root === null
      ? { fixed: 0, variable: [] }
      : planOf(root, [operation.selectionSet], 0);
  return { nodes, pages, writes };
}

function add(plan: CostPlan, count: Count, inner: CostPlan): void {
  // 0 times `Infinity` would be no number.
  if (count === 0 || (inner.fixed === 0 && inner.variable.length === 0)) return;
  if (typeof count === 'number') {
    plan.fixed += count * inner.fixed;
    for (const { times, ...rest } of inner.variable) plan.variable.push({ times: count * times, ...rest });
  } else {
    plan.variable.push({ times: 1, count, inner });
  }
}

/** A page's rows by the value of `first`. */
function rowsOf(value: unknown): number {
  if (value === null) return defaultFirst;
  // What is no Int is refused as such.
  return typeof value === 'number' && (value | 0) === value ? value : 0;
}

/** A single value stands for a list of it. */
function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : value === null || value === undefined ? 0 : 1;
}

/** Whether objects of the type may have an id of their own. */
function isRecord(schema: GraphQLSchema, type: GraphQLCompositeType): boolean {
  if (isObjectType(type)) return type.getInterfaces().some(({ name }) => name === 'Node');
  if (isInterfaceType(type) && type.name === 'Node') return true;
  return (
    (isInterfaceType(type) || isUnionType(type)) &&
    schema.getPossibleTypes(type).some((possible) => isRecord(schema, possible))
  );
}
