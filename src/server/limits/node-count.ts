import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isNonNullType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { defaultPageSize } from '../../graph/relay/connection.ts';
import type { RawVariables } from '../document-syntax/operation.ts';
import {
  type FieldSelection,
  type FragmentByName,
  responseName,
  selectedFields,
  selectionSets,
} from '../document-syntax/selections.ts';
import { type ListSize, listSize } from './list-size.ts';

/** The number of items of a list: fixed by the document, or determined by a variable. */
export type Count = number | VariableCount;

interface VariableCount {
  variable: string;
  /** The count for a raw JSON value. 0 for a value of the wrong type, which is rejected later. */
  of: (value: unknown) => number;
  /** The count if the request has no value for the variable. */
  default: number;
}

/** A page that an operation requests, whose `first` must be within bounds. */
interface PageCheck {
  count: Count;
  maximum: number;
  /** The field for the error message, such as `Order.shipments`. */
  coordinate: string;
  node: FieldNode;
}

/**
 * The maximum number of objects in a response: a fixed part, and parts that variables multiply. List items and
 * objects with an id count, and so do the rows that a page asks of REST. Of the other fields, only those count that a
 * client can make fail more often than once in an object: with arguments, and repeated under an alias.
 */
export interface NodeCount {
  fixed: number;
  variable: { times: number; count: VariableCount; inner: NodeCount }[];
}

/** The nodes, pages and writes of an operation, as far as its document determines them. */
export interface NodeEstimate {
  nodes: NodeCount;
  pages: PageCheck[];
  /** The number of records that each mutation field writes. */
  writes: Count[];
}

/** The value of a count for the given variables. */
export function resolveCount(count: Count, variables: RawVariables): number {
  if (typeof count === 'number') return count;
  const value = Object.hasOwn(variables, count.variable) ? variables[count.variable] : undefined;
  return value === undefined ? count.default : count.of(value);
}

/** The number of objects for the given variables. May be `Infinity` if counts are huge. */
export function resolveNodeCount({ fixed, variable }: NodeCount, variables: RawVariables): number {
  let total = fixed;
  for (const { times, count, inner } of variable) {
    const items = resolveCount(count, variables);
    // 0 times `Infinity` would be NaN.
    if (items > 0 && times > 0) total += times * items * resolveNodeCount(inner, variables);
  }
  return total;
}

/**
 * Counts the nodes of an operation of a valid document. Fields with the same response name count once.
 * @param introspection the average lengths of introspection lists, by coordinate (`Type.field`).
 */
export function estimateNodes(
  schema: GraphQLSchema,
  introspection: ReadonlyMap<string, number>,
  operation: OperationDefinitionNode,
  fragmentByName: FragmentByName,
): NodeEstimate {
  const pages: PageCheck[] = [];
  const writes: Count[] = [];
  const defaults = new Map<string, unknown>();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (defaultValue) defaults.set(variable.name.value, valueFromASTUntyped(defaultValue));
  }

  function nodeCountOf(
    parent: GraphQLCompositeType,
    sets: readonly SelectionSetNode[],
    page: Count,
  ): NodeCount {
    const total: NodeCount = { fixed: 0, variable: [] };
    const coordinates = new Set<string>();
    // Fields of one response name under different type conditions are separate. At most one of them has a result.
    const keyOf = (field: FieldSelection) => `${field.condition ?? parent.name}.${responseName(field)}`;
    for (const group of Map.groupBy(selectedFields(sets, fragmentByName), keyOf).values()) {
      const [{ node, condition } = {}] = group;
      const type = condition === undefined ? parent : schema.getType(condition);
      if (node !== undefined && isCompositeType(type)) {
        const coordinate = `${type.name}.${node.name.value}`;
        addField(total, type, node, selectionSets(group), page, coordinates.has(coordinate));
        coordinates.add(coordinate);
      }
    }
    return total;
  }

  function addField(
    total: NodeCount,
    parent: GraphQLCompositeType,
    node: FieldNode,
    sets: readonly SelectionSetNode[],
    page: Count,
    isRepeated: boolean,
  ): void {
    const field = schema.getField(parent, node.name.value);
    if (field === undefined) return;
    const type = getNamedType(field.type);
    const isWrite = parent === schema.getMutationType();
    // Each may be an error of its own: a client chooses the arguments, and how often a broken field is repeated.
    const mayFail = !isWrite && (hasArguments(node) || (isRepeated && !isNonNullType(field.type)));
    if (!isCompositeType(type)) {
      if (mayFail) total.fixed += 1;
      return;
    }
    const coordinate = `${parent.name}.${field.name}`;
    const average = introspection.get(coordinate);
    const size: ListSize | undefined =
      average === undefined ? listSize(parent, field) : { by: 'estimate', items: average };
    if (isWrite) writes.push(size?.by === 'argument' ? sizeOf(size, node, 0) : 1);
    if (size?.by === 'first') {
      const count = countOf(node, 'first', rowCountOf, defaultPageSize);
      pages.push({ count, maximum: size.maximum, coordinate, node });
      const rows = atLeastOne(count);
      const inner = nodeCountOf(type, sets, rows);
      addTimes(total, 1, inner);
      // A page without selected rows costs the rows that REST is asked for.
      if (!selectsRows(sets)) addTimes(total, rows, { fixed: 1, variable: [] });
      return;
    }
    const inner = nodeCountOf(type, sets, 0);
    // An edge and its node count as one object.
    const isObject = mayBeNode(schema, type) && !parent.name.endsWith('Edge');
    if (size !== undefined || isObject || mayFail) inner.fixed += 1;
    addTimes(total, size === undefined ? 1 : sizeOf(size, node, page), inner);
  }

  function selectsRows(sets: readonly SelectionSetNode[]): boolean {
    return selectedFields(sets, fragmentByName).some(({ node }) => rowFields.has(node.name.value));
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
    // A literal list is counted by its AST because its items may be variables.
    return of === itemCountOf && value.kind === 'ListValue'
      ? value.values.length
      : of(valueFromASTUntyped(value));
  }

  const root = schema.getRootType(operation.operation);
  const nodes = isCompositeType(root)
    ? nodeCountOf(root, [operation.selectionSet], 0)
    : { fixed: 0, variable: [] };
  return { nodes, pages, writes };
}

/** The fields of a connection that return its rows. */
const rowFields = new Set(['nodes', 'edges']);

/** Adds `inner` to `total`, multiplied by `count`. */
function addTimes(total: NodeCount, count: Count, inner: NodeCount): void {
  // 0 times `Infinity` would be NaN.
  if (count === 0 || isEmpty(inner)) return;
  if (typeof count === 'number') {
    total.fixed += count * inner.fixed;
    for (const { times, ...rest } of inner.variable) total.variable.push({ times: count * times, ...rest });
  } else {
    total.variable.push({ times: 1, count, inner });
  }
}

function hasArguments(node: FieldNode): boolean {
  return node.arguments !== undefined && node.arguments.length > 0;
}

function isEmpty({ fixed, variable }: NodeCount): boolean {
  return fixed === 0 && variable.length === 0;
}

/** The rows that a page asks of REST: one for `first: 0`, which tells whether there are any. */
function atLeastOne(count: Count): Count {
  if (typeof count === 'number') return Math.max(count, 1);
  return { ...count, of: (value) => Math.max(count.of(value), 1), default: Math.max(count.default, 1) };
}

/** The rows of a page by the value of `first`. */
function rowCountOf(value: unknown): number {
  if (value === null) return defaultPageSize;
  // Validation rejects a value that is not an Int.
  return typeof value === 'number' && (value | 0) === value ? value : 0;
}

/** The items of a list value. GraphQL coerces a single value to a list of one item. */
function itemCountOf(value: unknown): number {
  return Array.isArray(value) ? value.length : value === null || value === undefined ? 0 : 1;
}

/** Whether objects of the type may implement `Node`, and so have an id. */
function mayBeNode(schema: GraphQLSchema, type: GraphQLCompositeType): boolean {
  if (isInterfaceType(type) && type.name === 'Node') return true;
  const possibleTypes = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  return possibleTypes.some((object) => object.getInterfaces().some(({ name }) => name === 'Node'));
}
