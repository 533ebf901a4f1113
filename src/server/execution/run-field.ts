import {
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLList,
  type GraphQLNullableOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import {
  type Complete,
  type Container,
  createObject,
  type Execution,
  type FieldPlan,
  type ObjectPlan,
  type ResponsePath,
  unusableValue,
} from './execution.ts';
import { leafSerializer } from './leaf-values.ts';
import { charactersBeside } from './response-size.ts';

/** Puts the value of a field into `object`, as soon as the value is available. */
export function runField(
  field: FieldPlan,
  execution: Execution,
  source: unknown,
  object: Container,
  parent: ResponsePath | undefined,
): void {
  const { key, isNullable, property, serialize } = field;
  // A valid leaf value, the most common one, needs no path.
  if (serialize !== undefined && property !== undefined) {
    const value = (source as Container | undefined)?.[property];
    const isNull = (value === null || value === undefined) && isNullable;
    const completed = isNull ? null : serialize(value);
    if (completed !== undefined) {
      if (typeof completed === 'string') execution.characters += completed.length;
      object[key] = completed;
      return;
    }
  }
  const responsePath = { execution, field, parent, container: object, key, isNullable };
  try {
    completeValue(responsePath, field.complete, resolveField(field, execution, source));
  } catch (error) {
    execution.fail(error, responsePath);
  }
}

function resolveField(field: FieldPlan, execution: Execution, source: unknown): unknown {
  if (field.property !== undefined) return (source as Container)[field.property];
  const call = execution.fieldCall(field);
  return field.definition.resolve?.(source, call.args, execution.context, call);
}

/** Completes the result of a resolver: a value, null, a promise or an error. Creates closures only for promises. */
function completeValue(responsePath: ResponsePath, complete: Complete, value: unknown): void {
  const { execution, container, key, isNullable } = responsePath;
  if (value === null || value === undefined) {
    if (isNullable) container[key] = null;
    else execution.fail(unusableValue(responsePath), responsePath);
  } else if (value instanceof Promise) {
    // Reserves the key, so that the response keeps the order of the fields.
    container[key] = null;
    execution.awaitValue(value, (resolved) => completeLate(responsePath, complete, resolved), responsePath);
  } else if (value instanceof Error) execution.fail(value, responsePath);
  else {
    try {
      complete(responsePath, value);
    } catch (error) {
      execution.fail(error, responsePath);
    }
  }
}

/**
 * Completes a value that a promise has brought. Leaves the value out if the response is too long with it. A value that must
 * not be null stays, because its null would take the values around it along: results of writes too.
 */
function completeLate(responsePath: ResponsePath, complete: Complete, value: unknown): void {
  const { execution, field, container, key, isNullable } = responsePath;
  const mayBeLeftOut = isNullable && !field.isWrite && value !== null && value !== undefined;
  if (mayBeLeftOut && execution.isTooLong) {
    execution.fail(execution.tooLongError(), responsePath);
    return;
  }
  completeValue(responsePath, complete, value);
  // A value that has become null by an error of its own keeps that error.
  const isLeftOut = mayBeLeftOut && execution.isTooLong && container[key] !== null;
  if (isLeftOut) execution.fail(execution.tooLongError(), responsePath);
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
  return abstractCompletion(type, schema, planFor);
}

function leafCompletion(type: GraphQLLeafType): Complete {
  const serialize = leafSerializer(type);
  return (responsePath, value) => {
    const completed = serialize(value);
    if (completed === undefined) throw unusableValue(responsePath);
    if (typeof completed === 'string') responsePath.execution.characters += completed.length;
    responsePath.container[responsePath.key] = completed;
  };
}

const besideItem = charactersBeside();

function listCompletion(
  { ofType }: GraphQLList<GraphQLOutputType>,
  schema: GraphQLSchema,
  planFor: PlanFor,
): Complete {
  const itemType = getNullableType(ofType);
  const isNullable = itemType === ofType;
  const serialize = isLeafType(itemType) ? leafSerializer(itemType) : undefined;
  const complete = completionFor(itemType, schema, planFor);
  return (responsePath, value) => {
    if (!isIterable(value)) throw unusableValue(responsePath);
    // Created at its final size: a growing array reserves 17 slots (docs/design/how-it-stays-fast.md#objects).
    const items: unknown[] = Array.isArray(value) ? new Array(value.length) : [];
    // Set before the items are completed, because an item may propagate null to this location.
    responsePath.container[responsePath.key] = items;
    // An array is a container with numeric keys.
    const container = items as unknown as Container;
    const { execution, field } = responsePath;
    let index = 0;
    for (const item of value) {
      const completed = serialize?.(item);
      execution.characters += typeof completed === 'string' ? completed.length + besideItem : besideItem;
      if (completed !== undefined) items[index] = completed;
      else {
        const itemPath = { execution, field, parent: responsePath, container, key: index, isNullable };
        completeValue(itemPath, complete, item);
      }
      if (field.isPage && execution.isTooLong) throw execution.tooLongError();
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
  return (responsePath, value) => {
    const { execution, field } = responsePath;
    const typename =
      type.resolveType?.(value, execution.context, execution.fieldCall(field), type) ??
      (value as { __typename?: unknown }).__typename; // Values of abstract types are objects.
    let plan = plans.get(typename);
    if (plan === undefined) {
      const objectType = typeof typename === 'string' ? schema.getType(typename) : undefined;
      if (!isObjectType(objectType) || !schema.isSubType(type, objectType))
        throw new Error(`Abstract type "${type.name}" must resolve to one of its types, but got ${typename}`);
      plan = planFor(objectType);
      plans.set(typename, plan);
    }
    completeObject(responsePath, plan, value);
  };
}

function completeObject(responsePath: ResponsePath, plan: ObjectPlan, source: unknown): void {
  const object = createObject(plan);
  responsePath.execution.characters += plan.characters;
  // Set before the fields are completed, because a field may propagate null to this location.
  responsePath.container[responsePath.key] = object;
  for (const field of plan.fields) runField(field, responsePath.execution, source, object, responsePath);
}
