import {
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLList,
  type GraphQLNullableOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { leafSerializer } from '../../graph/fields/strict-leaf-serializers.ts';
import {
  type Container,
  type FieldsPlan,
  ItemPath,
  type ResponsePath,
  type SelectedField,
} from './plan-execution.ts';

/** Completes a value that is neither a promise nor null nor an error, and sets it at its location. */
export type Complete = (responsePath: ResponsePath, value: unknown) => void;

/**
 * Completes the result of a resolver: a value, null, a promise or an error instance. Creates closures only for
 * promises, because all values except valid leaf properties are completed by this function.
 */
export function completeValue(responsePath: ResponsePath, complete: Complete, value: unknown): void {
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
  planOf(type: GraphQLObjectType): FieldsPlan;
}

/** The function that completes values of a type. */
export function completionOf(
  type: GraphQLNullableOutputType,
  completionContext: CompletionContext,
): Complete {
  if (isLeafType(type)) return leafCompletion(type);
  if (isListType(type)) return listCompletion(type, completionContext);
  if (isObjectType(type)) return objectCompletion(completionContext.planOf(type));
  if (isAbstractType(type)) return abstractCompletion(type, completionContext);
  throw new Error(`${type} is no type of a field`);
}

/** Converts a leaf value for the response. Throws for an invalid value. */
export type Serialize = (value: unknown) => unknown;

/** The leaf value for the response. Undefined for null, objects and invalid values. */
export function serializeLeaf(serialize: Serialize, value: unknown): unknown {
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

function objectCompletion(plan: FieldsPlan): Complete {
  return (responsePath, value) => completeObject(responsePath, plan, value);
}

function abstractCompletion(type: GraphQLAbstractType, { schema, planOf }: CompletionContext): Complete {
  const plans = new Map<unknown, FieldsPlan>();

  function planFor(typename: unknown): FieldsPlan {
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

function completeObject(responsePath: ResponsePath, plan: FieldsPlan, source: unknown): void {
  const fields: Container = {};
  // Set before the fields are completed, because a field may propagate null to this location.
  responsePath.container[responsePath.key] = fields;
  plan.run(responsePath.execution, source, fields, responsePath);
}
