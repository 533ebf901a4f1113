import {
  doTypesOverlap,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { defaultPageSize } from '../../graph/relay/connection.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import {
  collectDefinitions,
  type FieldSelection,
  type Fragments,
  responseName,
  selectedFields,
  selectionSets,
} from '../document-syntax/selections.ts';
import type { Operation, RawVariables } from '../document-syntax/valid-operation.ts';
import { type Limits, limitError, limitExceeded } from './limits.ts';
import { listSize } from './list-size.ts';

/** A write costs REST as much as a page of this many rows. */
const pointsPerWrite = 10;
/** A label is a file of 100 KB or more, which REST makes. */
export const pointsPerLabel = 10;
/** A document of more labels is refused. */
const maxLabels = 100;

/**
 * The check of an operation of a valid document. It returns the error if a limit is exceeded, and otherwise the
 * weight: the objects and rows of the response at most, and 10 for each write and each label of a document.
 */
export function createLimitCheck(schema: GraphQLSchema, limits: Limits) {
  const estimate = perOperation((definition, document) =>
    estimateNodes(schema, definition, collectDefinitions(document).fragments),
  );

  return ({ document, definition, variables = {} }: Operation) => {
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

/**
 * A number that depends on the variables: an estimate is kept with its document, before they are known. It reads their
 * raw values. The executor later rejects values of a wrong type.
 */
type Count = (variables: RawVariables) => number;

interface NodeEstimate {
  /**
   * The maximum number of objects in the response: list items and objects with an id, and the rows that a page asks of
   * REST. Another field counts if a client chooses its arguments, and each time that it is repeated under an alias. An
   * object with each field once has the size of its record in REST, but repetitions have no such bound.
   */
  nodes: Count;
  /** The pages, whose `first` must be within bounds. The coordinate is such as `Order.shipments`. */
  pages: { first: Count; maximum: number; coordinate: string; node: FieldNode }[];
  /** The number of records that the operation writes. */
  writes: Count;
}

const none: Count = () => 0;
const one: Count = () => 1;

/** Estimates an operation of a valid document. Fields with the same response name count once. */
function estimateNodes(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): NodeEstimate {
  const pages: NodeEstimate['pages'] = [];
  const writes: Count[] = [];
  const defaults = new Map<string, unknown>();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    if (defaultValue) defaults.set(variable.name.value, valueFromASTUntyped(defaultValue));
  }

  /** Counts the objects below selection sets of `parent`. @param page the rows of the page, if `parent` is a connection. */
  function countSelections(parent: GraphQLCompositeType, sets: readonly SelectionSetNode[], page: Count) {
    const counts: Count[] = [];
    const seen: SeenSelection[] = [];
    // Fields of one response name under different type conditions are separate. At most one of them has a result.
    const key = (field: FieldSelection) => `${field.condition ?? parent.name}.${responseName(field)}`;
    for (const group of Map.groupBy(selectedFields(sets, fragments), key).values()) {
      const [{ node, condition } = {}] = group;
      const type = condition === undefined ? parent : schema.getType(condition);
      if (node === undefined || !isCompositeType(type)) continue;
      const field = schema.getField(type, node.name.value);
      if (field === undefined) continue;
      const selection = { name: field.name, type, key: responseName({ node, condition }) };
      const isRepeated = seen.some((other) => isRepetition(schema, selection, other));
      seen.push(selection);
      // Each may be an error of its own, or a long value once more.
      const isExtra = isRepeated || (node.arguments?.length ?? 0) > 0;
      counts.push(countField(type, field, node, selectionSets(group), page, isExtra));
    }
    return sum(counts);
  }

  /** Counts a field and what is below it. @param isExtra whether it counts even if it is no object: see `nodes` */
  function countField(
    parent: GraphQLCompositeType,
    field: GraphQLField,
    node: FieldNode,
    sets: readonly SelectionSetNode[],
    page: Count,
    isExtra: boolean,
  ): Count {
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return isExtra ? one : none;
    const size = listSize(parent, field);
    if (size?.by === 'first') {
      const first = countArgument(node, 'first', countRows);
      pages.push({ first, maximum: size.maximum, coordinate: `${parent.name}.${field.name}`, node });
      // `first: 0` reads a row, too, to tell whether there are any.
      const rows: Count = (variables) => Math.max(first(variables), 1);
      const inner = countSelections(type, sets, rows);
      const selectsRows = selectedFields(sets, fragments).some(({ node }) => rowFields.has(node.name.value));
      return selectsRows ? inner : sum([inner, rows]);
    }
    let items = one;
    if (size?.by === 'page') items = page;
    if (size?.by === 'estimate') items = () => size.items;
    if (size?.by === 'argument') items = countArgument(node, size.argument, countItems);
    const isWrite = parent === schema.getMutationType();
    if (isWrite) writes.push(items);
    const { labelsIn } = field.extensions;
    const labels = typeof labelsIn === 'string' ? countLabels(node, labelsIn) : none;
    // An edge and its node count as one object.
    const isObject = mayBeNode(schema, type) && !parent.name.endsWith('Edge');
    const inner = countSelections(type, sets, none);
    const isCounted = size !== undefined || isObject || (isExtra && !isWrite);
    return sum([labels, product(items, isCounted ? sum([one, inner]) : inner)]);
  }

  /** The points of the labels in a list of the argument `input`. */
  function countLabels(node: FieldNode, list: string): Count {
    const input = node.arguments?.find(({ name }) => name.value === 'input')?.value;
    if (input === undefined) return none;
    return (variables) => {
      const value: unknown = valueFromASTUntyped(input, { ...Object.fromEntries(defaults), ...variables });
      return pointsPerLabel * Math.min(maxLabels, countItems(Object(value)[list]));
    };
  }

  function countArgument(node: FieldNode, argument: string, toCount: (value: unknown) => number): Count {
    const value = node.arguments?.find(({ name }) => name.value === argument)?.value;
    if (value?.kind === 'Variable') {
      const name = value.name.value;
      const absent = toCount(defaults.get(name));
      return (variables) => (Object.hasOwn(variables, name) ? toCount(variables[name]) : absent);
    }
    const count = toCount(value && valueFromASTUntyped(value));
    return () => count;
  }

  const root = schema.getRootType(operation.operation);
  const nodes = isCompositeType(root) ? countSelections(root, [operation.selectionSet], none) : none;
  return { nodes, pages, writes: sum(writes) };
}

interface SeenSelection {
  name: string;
  type: GraphQLCompositeType;
  /** The response name. */
  key: string;
}

/** Whether two selections may return the same field of one object twice. With one response name, they are merged. */
function isRepetition(schema: GraphQLSchema, one: SeenSelection, other: SeenSelection): boolean {
  return one.name === other.name && one.key !== other.key && doTypesOverlap(schema, one.type, other.type);
}

/** The fields of a connection that return its rows. */
const rowFields = new Set(['nodes', 'edges']);

function sum(counts: readonly Count[]): Count {
  const terms = counts.filter((count) => count !== none);
  if (terms.length === 0) return none;
  return (variables) => terms.reduce((total, count) => total + count(variables), 0);
}

function product(items: Count, inner: Count): Count {
  if (inner === none || items === one) return inner;
  return (variables) => items(variables) * inner(variables);
}

function countRows(value: unknown): number {
  const rows = value ?? defaultPageSize;
  return typeof rows === 'number' && (rows | 0) === rows ? rows : 0;
}

function countItems(value: unknown): number {
  if (value === null || value === undefined) return 0;
  // GraphQL coerces a single value to a list of one item.
  return Array.isArray(value) ? value.length : 1;
}

/** Whether objects of the type may implement `Node`, and so have an id. */
function mayBeNode(schema: GraphQLSchema, type: GraphQLCompositeType): boolean {
  const objects = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  return objects.some((object) => object.getInterfaces().some(({ name }) => name === 'Node'));
}
