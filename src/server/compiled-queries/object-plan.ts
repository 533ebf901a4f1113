import {
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLList,
  type GraphQLNullableOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getArgumentValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { exposedProperty } from '../../graph/fields/property-resolvers.ts';
import { leafSerializer } from '../../graph/fields/strict-leaf-serializers.ts';
import {
  type FieldSelection,
  responseName,
  selectedFields,
  selectionSetsOf,
} from '../document-syntax/selections.ts';
import {
  type Container,
  type ExecutablePlan,
  type Execution,
  FieldPath,
  ItemPath,
  type ResponsePath,
  type SelectedField,
} from './plan-execution.ts';

/** The schema and fragments that the plans of a query's fields need. */
type QueryDefinitions = Pick<ExecutablePlan, 'schema' | 'fragments'>;

/** The fields to execute on objects of one type, with fragments expanded and fields merged. */
export class ObjectPlan {
  readonly #fields: FieldPlan[] = [];

  constructor(query: QueryDefinitions, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    const fields = selectedFields(
      sets,
      (name) => query.fragments[name],
      (condition) => conditionApplies(query.schema, type, condition),
    );
    // Selections with one response name are one field.
    for (const [key, group] of Map.groupBy(fields, responseName)) {
      this.#fields.push(new FieldPlan(query, type, key, group));
    }
  }

  /** Completes the fields of an object into `container`, each as soon as its value is available. */
  run(
    execution: Execution,
    source: unknown,
    container: Container,
    responsePath: ResponsePath | undefined,
  ): void {
    for (const field of this.#fields) field.run(execution, source, container, responsePath);
  }
}

/** Whether a type condition includes objects of a type. */
function conditionApplies(schema: GraphQLSchema, type: GraphQLObjectType, condition: string): boolean {
  if (condition === type.name) return true;
  const conditionType = schema.getType(condition);
  return isAbstractType(conditionType) && schema.isSubType(conditionType, type);
}

/** A field to execute on objects of one type. */
class FieldPlan implements SelectedField {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  readonly key: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly isNullable: boolean;
  readonly #complete: Complete;
  /** The arguments of every execution. Undefined if the arguments have variables. */
  readonly #args: object | undefined;
  /** The property of the source object that is the field's value. Undefined if the field has a resolver. */
  readonly #property: string | undefined;
  /** Set if the field is a property with a scalar or enum type. */
  readonly #leaf: { property: string; serialize: Serialize } | undefined;

  constructor(
    query: QueryDefinitions,
    parentType: GraphQLObjectType,
    key: string,
    fields: readonly FieldSelection[],
  ) {
    const [node, ...more] = fields.map(({ node }) => node);
    const definition = node && query.schema.getField(parentType, node.name.value);
    if (node === undefined || definition === undefined) throw new Error(`${parentType.name} has no ${key}`);
    this.parentType = parentType;
    this.definition = definition;
    this.key = key;
    this.nodes = [node, ...more];
    const { type } = definition;
    this.isNullable = !isNonNullType(type);
    const sets = selectionSetsOf(fields);
    const nullableType = isNonNullType(type) ? type.ofType : type;
    const property = exposedProperty(definition);
    this.#property = property;
    this.#leaf =
      property !== undefined && isLeafType(nullableType)
        ? { property, serialize: leafSerializer(nullableType) }
        : undefined;
    this.#complete = completionOf(nullableType, {
      schema: query.schema,
      planOf: (selected) => new ObjectPlan(query, selected, sets),
    });
    this.#args = hasVariables(node) ? undefined : getArgumentValues(definition, node);
  }

  run(execution: Execution, source: unknown, container: Container, parent: ResponsePath | undefined): void {
    if (this.#completeLeaf(source, container)) return;
    const responsePath = new FieldPath(execution, this, parent, container);
    let value: unknown;
    try {
      value =
        this.#property === undefined
          ? this.definition.resolve?.(
              source,
              this.#argsIn(execution, parent),
              execution.context,
              responsePath,
            )
          : (source as Container)[this.#property];
    } catch (error) {
      execution.fail(error, responsePath);
      return;
    }
    completeValue(responsePath, this.#complete, value);
  }

  /** Completes a valid leaf value, the most common case, without a response path. @returns false for all other values. */
  #completeLeaf(source: unknown, container: Container): boolean {
    if (this.#leaf === undefined) return false;
    const value = (source as Container | undefined)?.[this.#leaf.property];
    const isNull = (value === null || value === undefined) && this.isNullable;
    const completed = isNull ? null : serializeLeaf(this.#leaf.serialize, value);
    if (completed !== undefined) container[this.key] = completed;
    return completed !== undefined;
  }

  #argsIn(execution: Execution, parent: ResponsePath | undefined): object {
    if (this.#args !== undefined) return this.#args;
    const computeArgs = () => getArgumentValues(this.definition, this.nodes[0], execution.variables);
    // Root fields run once, so caching their arguments saves nothing.
    return parent === undefined ? computeArgs() : execution.argsOf(this, computeArgs);
  }
}

function hasVariables({ arguments: args = [] }: FieldNode): boolean {
  let isFound = false;
  for (const arg of args) {
    visit(arg, {
      Variable() {
        isFound = true;
      },
    });
  }
  return isFound;
}

/** Completes a value that is neither a promise nor null nor an error, and sets it at its location. */
type Complete = (responsePath: ResponsePath, value: unknown) => void;

/**
 * Completes the result of a resolver: a value, null, a promise or an error instance. Creates closures only for
 * promises, because all values except valid leaf properties are completed by this function.
 */
function completeValue(responsePath: ResponsePath, complete: Complete, value: unknown): void {
  if (value === null || value === undefined) {
    if (responsePath.isNullable) responsePath.container[responsePath.key] = null;
    else responsePath.execution.fail(nullError(responsePath.field), responsePath);
  } else if (value instanceof Promise) {
    // Reserves the key, so that the response keeps the order of the fields.
    responsePath.container[responsePath.key] = null;
    responsePath.execution.awaitValue(
      value,
      (resolved) => completeValue(responsePath, complete, resolved),
      responsePath,
    );
  } else if (value instanceof Error) responsePath.execution.fail(value, responsePath);
  else {
    try {
      complete(responsePath, value);
    } catch (error) {
      responsePath.execution.fail(error, responsePath);
    }
  }
}

function nullError({ parentType, definition }: SelectedField): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${definition.name}.`);
}

/** What the completion of a field's values needs. */
interface CompletionContext {
  schema: GraphQLSchema;
  /** The plan of the field's selection set for objects of a type. */
  planOf(type: GraphQLObjectType): ObjectPlan;
}

/** The function that completes values of a type. */
function completionOf(type: GraphQLNullableOutputType, completionContext: CompletionContext): Complete {
  if (isLeafType(type)) return leafCompletion(type);
  if (isListType(type)) return listCompletion(type, completionContext);
  if (isObjectType(type)) return objectCompletion(completionContext.planOf(type));
  if (isAbstractType(type)) return abstractCompletion(type, completionContext);
  throw new Error(`${type} is no type of a field`);
}

/** Converts a leaf value for the response. Throws for an invalid value. */
type Serialize = (value: unknown) => unknown;

/** The leaf value for the response. Undefined for null, objects and invalid values. */
function serializeLeaf(serialize: Serialize, value: unknown): unknown {
  if (value === null || value === undefined || typeof value === 'object') return undefined;
  try {
    return serialize(value) ?? undefined;
  } catch {
    // `completeValue` converts the value again, and reports the error.
    return undefined;
  }
}

function leafCompletion(type: GraphQLLeafType): Complete {
  const serialize = leafSerializer(type);
  return (responsePath, value) => {
    const completed = serialize(value);
    if (completed === null || completed === undefined)
      throw new Error(`${type.name} cannot represent this value`);
    responsePath.container[responsePath.key] = completed;
  };
}

function listCompletion(
  { ofType }: GraphQLList<GraphQLOutputType>,
  completionContext: CompletionContext,
): Complete {
  const isItemNullable = !isNonNullType(ofType);
  const itemType = isNonNullType(ofType) ? ofType.ofType : ofType;
  const serialize = isLeafType(itemType) ? leafSerializer(itemType) : undefined;
  const complete = completionOf(itemType, completionContext);
  return (responsePath, value) => {
    if (!isIterable(value)) {
      const name = `${responsePath.field.parentType.name}.${responsePath.field.definition.name}`;
      throw new Error(`Expected Iterable, but did not find one for field "${name}".`);
    }
    // Created at its final size: a growing array reserves 17 slots (docs/decisions/0004-long-lived-closures.md).
    const items: unknown[] = Array.isArray(value) ? new Array(value.length) : [];
    // Set before the items are completed, because an item may propagate null to this location.
    responsePath.container[responsePath.key] = items;
    // An array is a container with numeric keys.
    const container = items as unknown as Container;
    let index = 0;
    for (const item of value) {
      const completed = serialize && serializeLeaf(serialize, item);
      if (completed !== undefined) items[index] = completed;
      else completeValue(new ItemPath(responsePath, container, index, isItemNullable), complete, item);
      index += 1;
    }
  };
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function objectCompletion(plan: ObjectPlan): Complete {
  return (responsePath, value) => completeObject(responsePath, plan, value);
}

function abstractCompletion(type: GraphQLAbstractType, { schema, planOf }: CompletionContext): Complete {
  const plans = new Map<unknown, ObjectPlan>();

  function planFor(typename: unknown): ObjectPlan {
    const objectType = typeof typename === 'string' ? schema.getType(typename) : undefined;
    if (!isObjectType(objectType) || !schema.isSubType(type, objectType)) {
      throw new Error(`Abstract type "${type.name}" must resolve to one of its types, but got ${typename}`);
    }
    const plan = planOf(objectType);
    plans.set(typename, plan);
    return plan;
  }

  return (responsePath, value) => {
    const typename =
      type.resolveType?.(value, responsePath.execution.context, responsePath.info, type) ??
      (value as { __typename?: unknown }).__typename; // Values of abstract types are objects.
    completeObject(responsePath, plans.get(typename) ?? planFor(typename), value);
  };
}

function completeObject(responsePath: ResponsePath, plan: ObjectPlan, source: unknown): void {
  const fields: Container = {};
  // Set before the fields are completed, because a field may propagate null to this location.
  responsePath.container[responsePath.key] = fields;
  plan.run(responsePath.execution, source, fields, responsePath);
}
