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
import type { Holder, Place } from './place.ts';
import type { FieldPlan, ObjectPlan } from './plan.ts';
import { Info, type Run } from './run.ts';

/** Puts a value that is there, and that is neither null nor an error, into `holder` as clients get it. */
export type Complete = (
  run: Run,
  field: FieldPlan,
  value: unknown,
  holder: Holder,
  key: string | number,
  parent: Place | undefined,
  mayBeNull: boolean,
) => void;

/**
 * Puts whatever a resolver gave into `holder`; a promise once it is there. An error instance is the value's own error. It
 * makes no closures but for promises, as every value of an answer comes through here.
 */
export function put(
  run: Run,
  field: FieldPlan,
  complete: Complete,
  value: unknown,
  holder: Holder,
  key: string | number,
  parent: Place | undefined,
  mayBeNull: boolean,
): void {
  if (value === null || value === undefined) {
    if (mayBeNull) holder[key] = null;
    else run.fail(nullError(field), field, { parent, holder, key, mayBeNull });
  } else if (value instanceof Promise)
    putLate(run, field, complete, value, { parent, holder, key, mayBeNull });
  else if (value instanceof Error) run.fail(value, field, { parent, holder, key, mayBeNull });
  else {
    try {
      complete(run, field, value, holder, key, parent, mayBeNull);
    } catch (error) {
      run.fail(error, field, { parent, holder, key, mayBeNull });
    }
  }
}

function putLate(
  run: Run,
  field: FieldPlan,
  complete: Complete,
  promise: Promise<unknown>,
  place: Place,
): void {
  const { parent, holder, key, mayBeNull } = place;
  // In its place among the others meanwhile.
  holder[key] = null;
  run.wait(
    promise,
    (value) => put(run, field, complete, value, holder, key, parent, mayBeNull),
    (error) => run.fail(error, field, place),
  );
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

function leaf(type: GraphQLLeafType): Complete {
  return (_run, _field, value, holder, key) => {
    const told = type.coerceOutputValue(value);
    if (told === null || told === undefined) throw new Error(`${type.name} cannot represent this value`);
    holder[key] = told;
  };
}

function list({ ofType: itemType }: GraphQLList<GraphQLOutputType>, selections: Selections): Complete {
  const itemMayBeNull = !isNonNullType(itemType);
  const complete = completionOf(isNonNullType(itemType) ? itemType.ofType : itemType, selections);
  return (run, field, value, holder, key, parent, mayBeNull) => {
    if (!isIterable(value)) {
      const name = `${field.parentType.name}.${field.definition.name}`;
      throw new Error(`Expected Iterable, but did not find one for field "${name}".`);
    }
    const place: Place = { parent, holder, key, mayBeNull };
    const items: unknown[] = [];
    // Before its items, any of which may put null in its place.
    holder[key] = items;
    for (const item of value) {
      // An array holds its items as an object does its fields.
      put(run, field, complete, item, items as unknown as Holder, items.length, place, itemMayBeNull);
    }
  };
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function object(plan: ObjectPlan): Complete {
  return (run, _field, value, holder, key, parent, mayBeNull) =>
    putObject(run, plan, value, { parent, holder, key, mayBeNull });
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

  return (run, field, value, holder, key, parent, mayBeNull) => {
    const typename =
      type.resolveType?.(value, run.context, new Info(run, field, parent), type) ??
      (value as { __typename?: unknown }).__typename; // An object, as all that has types of its own.
    putObject(run, plans.get(typename) ?? planFor(typename), value, { parent, holder, key, mayBeNull });
  };
}

function putObject(run: Run, plan: ObjectPlan, source: unknown, place: Place): void {
  const fields: Holder = {};
  // Before its own fields, any of which may put null in its place.
  place.holder[place.key] = fields;
  plan.run(run, source, fields, place);
}
