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
import { type Container, type ObjectPlan, ResponsePath, unusableValue } from './execution.ts';
import { leafSerializer } from './leaf-values.ts';

/** Completes a value that is neither a promise nor null nor an error, and sets it at its location. */
export type Complete = (responsePath: ResponsePath, value: unknown) => void;

/** Completes the result of a resolver: a value, null, a promise or an error. Creates closures only for promises. */
export function completeValue(responsePath: ResponsePath, complete: Complete, value: unknown): void {
  if (value === null || value === undefined) {
    if (responsePath.isNullable) responsePath.container[responsePath.key] = null;
    else responsePath.execution.fail(unusableValue(responsePath), responsePath);
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

/** Plans a field's selection set for objects of a type. @throws GraphQLError if a condition is null. */
type PlanFor = (type: GraphQLObjectType) => ObjectPlan;

/** The function that completes values of a type. */
export function completionFor(
  type: GraphQLNullableOutputType,
  schema: GraphQLSchema,
  planFor: PlanFor,
): Complete {
  if (isLeafType(type)) return leafCompletion(type);
  if (isListType(type)) return listCompletion(type, schema, planFor);
  if (isObjectType(type)) return objectCompletion(type, planFor);
  if (isAbstractType(type)) return abstractCompletion(type, schema, planFor);
  throw new Error(`${type} is not an output type`);
}

function leafCompletion(type: GraphQLLeafType): Complete {
  const serialize = leafSerializer(type);
  return (responsePath, value) => {
    const completed = serialize(value);
    if (completed === undefined) throw unusableValue(responsePath);
    responsePath.container[responsePath.key] = completed;
  };
}

function listCompletion(
  { ofType }: GraphQLList<GraphQLOutputType>,
  schema: GraphQLSchema,
  planFor: PlanFor,
): Complete {
  const isItemNullable = !isNonNullType(ofType);
  const itemType = isNonNullType(ofType) ? ofType.ofType : ofType;
  const serialize = isLeafType(itemType) ? leafSerializer(itemType) : undefined;
  const complete = completionFor(itemType, schema, planFor);
  return (responsePath, value) => {
    if (!isIterable(value)) throw unusableValue(responsePath);
    // Created at its final size: a growing array reserves 17 slots (docs/decisions/0004-long-lived-closures.md).
    const items: unknown[] = Array.isArray(value) ? new Array(value.length) : [];
    // Set before the items are completed, because an item may propagate null to this location.
    responsePath.container[responsePath.key] = items;
    // An array is a container with numeric keys.
    const container = items as unknown as Container;
    let index = 0;
    for (const item of value) {
      const completed = serialize?.(item);
      if (completed !== undefined) items[index] = completed;
      else {
        const { execution, field } = responsePath;
        const path = new ResponsePath(execution, field, responsePath, container, index, isItemNullable);
        completeValue(path, complete, item);
      }
      index += 1;
    }
  };
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function objectCompletion(type: GraphQLObjectType, planFor: PlanFor): Complete {
  let plan: ObjectPlan | undefined;
  return (responsePath, value) => {
    plan ??= planFor(type);
    completeObject(responsePath, plan, value);
  };
}

function abstractCompletion(type: GraphQLAbstractType, schema: GraphQLSchema, planFor: PlanFor): Complete {
  const plans = new Map<unknown, ObjectPlan>();

  function addPlan(typename: unknown): ObjectPlan {
    const objectType = typeof typename === 'string' ? schema.getType(typename) : undefined;
    if (!isObjectType(objectType) || !schema.isSubType(type, objectType)) {
      throw new Error(`Abstract type "${type.name}" must resolve to one of its types, but got ${typename}`);
    }
    const plan = planFor(objectType);
    plans.set(typename, plan);
    return plan;
  }

  return (responsePath, value) => {
    const { execution, field } = responsePath;
    const typename =
      type.resolveType?.(value, execution.context, execution.fieldCall(field), type) ??
      (value as { __typename?: unknown }).__typename; // Values of abstract types are objects.
    completeObject(responsePath, plans.get(typename) ?? addPlan(typename), value);
  };
}

function completeObject(responsePath: ResponsePath, plan: ObjectPlan, source: unknown): void {
  const object = plan.createObject();
  // Set before the fields are completed, because a field may propagate null to this location.
  responsePath.container[responsePath.key] = object;
  for (const field of plan.fields) field.run(responsePath.execution, source, object, responsePath);
}
