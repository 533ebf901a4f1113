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
import { outputOf } from '../../graph/exact-leaves.ts';
import { type Holder, ItemPlace, type Place } from './place.ts';
import type { FieldPlan, ObjectPlan } from './plan.ts';

/** Puts a value that is there, and that is neither null nor an error, into its place as clients get it. */
export type Complete = (place: Place, value: unknown) => void;

/**
 * Puts whatever a resolver gave into its place; a promise once it is there. An error instance is the value's own error. It
 * makes no closures but for promises, as every value of an answer comes through here that is no plain one.
 */
export function put(place: Place, complete: Complete, value: unknown): void {
  if (value === null || value === undefined) {
    if (place.mayBeNull) place.holder[place.key] = null;
    else place.run.fail(nullError(place.field), place);
  } else if (value instanceof Promise) {
    // In its place among the others meanwhile.
    place.holder[place.key] = null;
    place.run.wait(value, (late) => put(place, complete, late), place);
  } else if (value instanceof Error) place.run.fail(value, place);
  else {
    try {
      complete(place, value);
    } catch (error) {
      place.run.fail(error, place);
    }
  }
}

function nullError({ parentType, definition }: FieldPlan): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${definition.name}.`);
}

/** What completing goes by: the schema, and what is selected of a type. */
export interface Selections {
  schema: GraphQLSchema;
  of(type: GraphQLObjectType): ObjectPlan;
}

/** How values of a type are completed. */
export function completionOf(type: GraphQLNullableOutputType, selections: Selections): Complete {
  if (isLeafType(type)) return leaf(type);
  if (isListType(type)) return list(type, selections);
  if (isObjectType(type)) return object(selections.of(type));
  if (isAbstractType(type)) return abstract(type, selections);
  throw new Error(`${type} is no type of a field`);
}

/** How a leaf type gives out its values; throws for one that it can't give out. */
export type Output = (value: unknown) => unknown;

/** A plain value of a leaf as clients get it; undefined where it is another, or one that can't be given out. */
export function plainLeaf(output: Output, value: unknown): unknown {
  if (value === null || value === undefined || typeof value === 'object') return undefined;
  try {
    return output(value) ?? undefined;
  } catch {
    // Told by `put`, to which all goes that is not plain.
    return undefined;
  }
}

function leaf(type: GraphQLLeafType): Complete {
  const output = outputOf(type);
  return (place, value) => {
    const told = output(value);
    if (told === null || told === undefined) throw new Error(`${type.name} cannot represent this value`);
    place.holder[place.key] = told;
  };
}

function list({ ofType }: GraphQLList<GraphQLOutputType>, selections: Selections): Complete {
  const itemMayBeNull = !isNonNullType(ofType);
  const itemType = isNonNullType(ofType) ? ofType.ofType : ofType;
  const output = isLeafType(itemType) ? outputOf(itemType) : undefined;
  const complete = completionOf(itemType, selections);
  return (place, value) => {
    if (!isIterable(value)) {
      const name = `${place.field.parentType.name}.${place.field.definition.name}`;
      throw new Error(`Expected Iterable, but did not find one for field "${name}".`);
    }
    // As long as it is to be, where that is known: an array that grows takes room for 17.
    const items: unknown[] = Array.isArray(value) ? new Array(value.length) : [];
    // Before its items, any of which may put null in its place.
    place.holder[place.key] = items;
    // An array holds its items as an object does its fields.
    const holder = items as unknown as Holder;
    let index = 0;
    for (const item of value) {
      const told = output && plainLeaf(output, item);
      if (told !== undefined) items[index] = told;
      else put(new ItemPlace(place, holder, index, itemMayBeNull), complete, item);
      index += 1;
    }
  };
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function object(plan: ObjectPlan): Complete {
  return (place, value) => putObject(place, plan, value);
}

function abstract(type: GraphQLAbstractType, { schema, of }: Selections): Complete {
  const plans = new Map<unknown, ObjectPlan>();

  function planFor(typename: unknown): ObjectPlan {
    const named = typeof typename === 'string' ? schema.getType(typename) : undefined;
    if (!isObjectType(named) || !schema.isSubType(type, named)) {
      throw new Error(`Abstract type "${type.name}" must resolve to one of its types, but got ${typename}`);
    }
    const plan = of(named);
    plans.set(typename, plan);
    return plan;
  }

  return (place, value) => {
    const typename =
      type.resolveType?.(value, place.run.context, place.info, type) ??
      (value as { __typename?: unknown }).__typename; // An object, as all that has types of its own.
    putObject(place, plans.get(typename) ?? planFor(typename), value);
  };
}

function putObject(place: Place, plan: ObjectPlan, source: unknown): void {
  const fields: Holder = {};
  // Before its own fields, any of which may put null in its place.
  place.holder[place.key] = fields;
  plan.run(place.run, source, fields, place);
}
