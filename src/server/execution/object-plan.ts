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
import { outputOf } from '../../graph/fields/exact-leaves.ts';
import { propertyOf } from '../../graph/fields/property-fields.ts';
import { type FieldSelection, responseName, selectedFields, selectionSetsOf } from '../limits/selections.ts';
import {
  type Container,
  type ExecutablePlan,
  type Execution,
  FieldPath,
  ItemPath,
  type ResponsePath,
  type SelectedField,
} from './execution.ts';

/** What the fields of a query are planned by. */
type QueryDefinitions = Pick<ExecutablePlan, 'schema' | 'fragments'>;

/** The fields that are selected of objects of a type. */
export class ObjectPlan {
  readonly #fields: FieldPlan[] = [];

  constructor(query: QueryDefinitions, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    const fields = selectedFields(
      sets,
      (name) => query.fragments[name],
      (condition) => conditionApplies(query.schema, type, condition),
    );
    // Fields of one name are one field, whatever fragments they come from.
    for (const [key, group] of Map.groupBy(fields, responseName)) {
      this.#fields.push(new FieldPlan(query, type, key, group));
    }
  }

  /** Puts the fields of an object into `holder`, each as soon as it is there. */
  run(
    execution: Execution,
    source: unknown,
    container: Container,
    responsePath: ResponsePath | undefined,
  ): void {
    for (const field of this.#fields) field.run(execution, source, container, responsePath);
  }
}

/** Whether what is selected under a type condition is selected of objects of a type. */
function conditionApplies(schema: GraphQLSchema, type: GraphQLObjectType, condition: string): boolean {
  if (condition === type.name) return true;
  const named = schema.getType(condition);
  return isAbstractType(named) && schema.isSubType(named, type);
}

/** A field that is selected of objects of a type. */
class FieldPlan implements SelectedField {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  /** What it is called in the answer. */
  readonly key: string;
  /** Where it is selected. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly mayBeNull: boolean;
  readonly #complete: Complete;
  /** The same for each run, where they hold no variables. */
  readonly #args: object | undefined;
  /** Of its object, where the field is just that; undefined where it is resolved. */
  readonly #property: string | undefined;
  /** Of a property whose values are leaves; undefined for all other fields. */
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
    this.mayBeNull = !isNonNullType(type);
    const sets = selectionSetsOf(fields);
    const nullableType = isNonNullType(type) ? type.ofType : type;
    const property = propertyOf(definition);
    this.#property = property;
    this.#leaf =
      property !== undefined && isLeafType(nullableType)
        ? { property, serialize: outputOf(nullableType) }
        : undefined;
    this.#complete = completionOf(nullableType, {
      schema: query.schema,
      planOf: (selected) => new ObjectPlan(query, selected, sets),
    });
    this.#args = holdsVariables(node) ? undefined : getArgumentValues(definition, node);
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

  /** Most values need no place of their own, as they are there and as they should be. */
  #completeLeaf(source: unknown, container: Container): boolean {
    if (this.#leaf === undefined) return false;
    const value = (source as Container | undefined)?.[this.#leaf.property];
    const isNull = (value === null || value === undefined) && this.mayBeNull;
    const completed = isNull ? null : serializeLeaf(this.#leaf.serialize, value);
    if (completed !== undefined) container[this.key] = completed;
    return completed !== undefined;
  }

  #argsIn(execution: Execution, parent: ResponsePath | undefined): object {
    if (this.#args !== undefined) return this.#args;
    const computeArgs = () => getArgumentValues(this.definition, this.nodes[0], execution.variables);
    // Fields at the root are run once, so that nothing is gained by keeping their arguments.
    return parent === undefined ? computeArgs() : execution.argsOf(this, computeArgs);
  }
}

function holdsVariables({ arguments: args = [] }: FieldNode): boolean {
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

/** Puts a value that is there, and that is neither null nor an error, into its place as clients get it. */
type Complete = (responsePath: ResponsePath, value: unknown) => void;

/**
 * Puts whatever a resolver gave into its place; a promise once it is there. An error instance is the value's own error. It
 * makes no closures but for promises, as every value of an answer comes through here that is no plain one.
 */
function completeValue(responsePath: ResponsePath, complete: Complete, value: unknown): void {
  if (value === null || value === undefined) {
    if (responsePath.mayBeNull) responsePath.container[responsePath.key] = null;
    else responsePath.execution.fail(nullError(responsePath.field), responsePath);
  } else if (value instanceof Promise) {
    // In its place among the others meanwhile.
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

/** What completing goes by: the schema, and what is selected of a type. */
interface CompletionContext {
  schema: GraphQLSchema;
  planOf(type: GraphQLObjectType): ObjectPlan;
}

/** How values of a type are completed. */
function completionOf(type: GraphQLNullableOutputType, completionContext: CompletionContext): Complete {
  if (isLeafType(type)) return leafCompletion(type);
  if (isListType(type)) return listCompletion(type, completionContext);
  if (isObjectType(type)) return objectCompletion(completionContext.planOf(type));
  if (isAbstractType(type)) return abstractCompletion(type, completionContext);
  throw new Error(`${type} is no type of a field`);
}

/** How a leaf type gives out its values; throws for one that it can't give out. */
type Serialize = (value: unknown) => unknown;

/** A plain value of a leaf as clients get it; undefined where it is another, or one that can't be given out. */
function serializeLeaf(serialize: Serialize, value: unknown): unknown {
  if (value === null || value === undefined || typeof value === 'object') return undefined;
  try {
    return serialize(value) ?? undefined;
  } catch {
    // Told by `put`, to which all goes that is not plain.
    return undefined;
  }
}

function leafCompletion(type: GraphQLLeafType): Complete {
  const serialize = outputOf(type);
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
  const itemMayBeNull = !isNonNullType(ofType);
  const itemType = isNonNullType(ofType) ? ofType.ofType : ofType;
  const serialize = isLeafType(itemType) ? outputOf(itemType) : undefined;
  const complete = completionOf(itemType, completionContext);
  return (responsePath, value) => {
    if (!isIterable(value)) {
      const name = `${responsePath.field.parentType.name}.${responsePath.field.definition.name}`;
      throw new Error(`Expected Iterable, but did not find one for field "${name}".`);
    }
    // As long as it is to be, where that is known: an array that grows takes room for 17.
    const items: unknown[] = Array.isArray(value) ? new Array(value.length) : [];
    // Before its items, any of which may put null in its place.
    responsePath.container[responsePath.key] = items;
    // An array holds its items as an object does its fields.
    const container = items as unknown as Container;
    let index = 0;
    for (const item of value) {
      const completed = serialize && serializeLeaf(serialize, item);
      if (completed !== undefined) items[index] = completed;
      else completeValue(new ItemPath(responsePath, container, index, itemMayBeNull), complete, item);
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
    const named = typeof typename === 'string' ? schema.getType(typename) : undefined;
    if (!isObjectType(named) || !schema.isSubType(type, named)) {
      throw new Error(`Abstract type "${type.name}" must resolve to one of its types, but got ${typename}`);
    }
    const plan = planOf(named);
    plans.set(typename, plan);
    return plan;
  }

  return (responsePath, value) => {
    const typename =
      type.resolveType?.(value, responsePath.execution.context, responsePath.info, type) ??
      (value as { __typename?: unknown }).__typename; // An object, as all that has types of its own.
    completeObject(responsePath, plans.get(typename) ?? planFor(typename), value);
  };
}

function completeObject(responsePath: ResponsePath, plan: ObjectPlan, source: unknown): void {
  const fields: Container = {};
  // Before its own fields, any of which may put null in its place.
  responsePath.container[responsePath.key] = fields;
  plan.run(responsePath.execution, source, fields, responsePath);
}
