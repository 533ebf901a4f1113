import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { defaultFirst } from '../../graph/relay/connection.ts';
import { type ListSize, listSizeOf } from './list-size.ts';
import {
  type FieldSelection,
  type FragmentOf,
  responseName,
  selectedFields,
  selectionSetsOf,
} from './selections.ts';
import type { RawVariables } from './variable-limits.ts';

/** Where the number of items of a list comes from: from the document, or from a variable. */
export type Count = number | VariableCount;

interface VariableCount {
  variable: string;
  /** Counts the variable's value as JSON has it; what is no fit for the type counts as nothing, as it is refused. */
  of: (value: unknown) => number;
  /** The count where the variable is left out. */
  default: number;
}

/** A page that an operation asks for. */
interface PageCheck {
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
export interface NodeCost {
  fixed: number;
  variable: { times: number; count: VariableCount; inner: NodeCost }[];
}

/** What the document alone says of the cost of an operation. */
export interface CostEstimate {
  nodes: NodeCost;
  pages: PageCheck[];
  /** Of each field of a mutation, how many things it writes. */
  writes: Count[];
}

/** How many a count is for these variables. */
export function resolveCount(count: Count, variables: RawVariables): number {
  if (typeof count === 'number') return count;
  const value = Object.hasOwn(variables, count.variable) ? variables[count.variable] : undefined;
  return value === undefined ? count.default : count.of(value);
}

/** How many objects a cost is for these variables; `Infinity` where numbers are too large to be counted exactly. */
export function resolveNodeCount({ fixed, variable }: NodeCost, variables: RawVariables): number {
  let total = fixed;
  for (const { times, count, inner } of variable) {
    const items = resolveCount(count, variables);
    // 0 times `Infinity` would be no number.
    if (items > 0 && times > 0) total += times * items * resolveNodeCount(inner, variables);
  }
  return total;
}

/**
 * The cost of an operation of a valid document. Fields of one name are answered as one, and so are counted as one.
 * @param introspection how long the lists of an introspection are, by `Type.field`.
 */
export function estimateCost(
  schema: GraphQLSchema,
  introspection: ReadonlyMap<string, number>,
  operation: OperationDefinitionNode,
  fragmentOf: FragmentOf,
): CostEstimate {
  const pages: PageCheck[] = [];
  const writes: Count[] = [];
  const defaults = new Map<string, unknown>();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (defaultValue) defaults.set(variable.name.value, valueFromASTUntyped(defaultValue));
  }

  function costOf(parent: GraphQLCompositeType, sets: readonly SelectionSetNode[], page: Count): NodeCost {
    const cost: NodeCost = { fixed: 0, variable: [] };
    // Fields of one name that belong to different types are kept apart: only one of them is answered, if any.
    const keyOf = (field: FieldSelection) => `${field.condition ?? parent.name}.${responseName(field)}`;
    for (const group of Map.groupBy(selectedFields(sets, fragmentOf), keyOf).values()) {
      const [{ node, condition } = {}] = group;
      const type = condition === undefined ? parent : schema.getType(condition);
      if (node !== undefined && isCompositeType(type)) {
        addField(cost, type, node, selectionSetsOf(group), page);
      }
    }
    return cost;
  }

  function addField(
    cost: NodeCost,
    parent: GraphQLCompositeType,
    node: FieldNode,
    sets: readonly SelectionSetNode[],
    page: Count,
  ): void {
    const field = schema.getField(parent, node.name.value);
    if (field === undefined) return;
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return;
    const coordinate = `${parent.name}.${field.name}`;
    const average = introspection.get(coordinate);
    const size: ListSize | undefined =
      average === undefined ? listSizeOf(parent, field) : { by: 'estimate', items: average };
    if (parent === schema.getMutationType()) writes.push(size?.by === 'argument' ? sizeOf(size, node, 0) : 1);
    if (size?.by === 'first') {
      const count = countOf(node, 'first', rowCountOf, defaultFirst);
      pages.push({ count, maximum: size.maximum, coordinate, node });
      addTimes(cost, 1, costOf(type, sets, count));
      return;
    }
    const inner = costOf(type, sets, 0);
    // The node of an edge is counted with the edge.
    if (size !== undefined || (mayBeNode(schema, type) && !parent.name.endsWith('Edge'))) inner.fixed += 1;
    addTimes(cost, size === undefined ? 1 : sizeOf(size, node, page), inner);
  }

  function sizeOf(size: Exclude<ListSize, { by: 'first' }>, node: FieldNode, page: Count): Count {
    if (size.by === 'page') return page;
    if (size.by === 'estimate') return size.items;
    return countOf(node, size.argument.name, itemCountOf, 0);
  }

  function countOf(
    node: FieldNode,
    argument: string,
    of: (value: unknown) => number,
    defaultCount: number,
  ): Count {
    const value = node.arguments?.find(({ name }) => name.value === argument)?.value;
    if (value === undefined) return defaultCount;
    if (value.kind === 'Variable') {
      const variable = value.name.value;
      return { variable, of, default: defaults.has(variable) ? of(defaults.get(variable)) : defaultCount };
    }
    // The items of a list may be variables.
    return of === itemCountOf && value.kind === 'ListValue'
      ? value.values.length
      : of(valueFromASTUntyped(value));
  }

  const root = schema.getRootType(operation.operation);
  const nodes = isCompositeType(root)
    ? costOf(root, [operation.selectionSet], 0)
    : { fixed: 0, variable: [] };
  return { nodes, pages, writes };
}

function addTimes(cost: NodeCost, count: Count, inner: NodeCost): void {
  // 0 times `Infinity` would be no number.
  if (count === 0 || (inner.fixed === 0 && inner.variable.length === 0)) return;
  if (typeof count === 'number') {
    cost.fixed += count * inner.fixed;
    for (const { times, ...rest } of inner.variable) cost.variable.push({ times: count * times, ...rest });
  } else {
    cost.variable.push({ times: 1, count, inner });
  }
}

/** A page's rows by the value of `first`. */
function rowCountOf(value: unknown): number {
  if (value === null) return defaultFirst;
  // What is no Int is refused as such.
  return typeof value === 'number' && (value | 0) === value ? value : 0;
}

/** A single value stands for a list of it. */
function itemCountOf(value: unknown): number {
  return Array.isArray(value) ? value.length : value === null || value === undefined ? 0 : 1;
}

/** Whether objects of the type may have an id of their own. */
function mayBeNode(schema: GraphQLSchema, type: GraphQLCompositeType): boolean {
  if (isInterfaceType(type) && type.name === 'Node') return true;
  const possibleTypes = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  return possibleTypes.some((object) => object.getInterfaces().some(({ name }) => name === 'Node'));
}
