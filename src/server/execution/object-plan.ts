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
  FieldPlace,
  type Holder,
  ItemPlace,
  type Place,
  type ReadyQuery,
  type Run,
  type SelectedField,
} from './execution.ts';

/** What the fields of a query are planned by. */
type Selection = Pick<ReadyQuery, 'schema' | 'fragments'>;

/** The fields that are selected of objects of a type. */
export class ObjectPlan {
  readonly #fields: FieldPlan[] = [];

  constructor(query: Selection, type: GraphQLObjectType, sets: readonly SelectionSetNode[]) {
    const fields = selectedFields(
      sets,
      (name) => query.fragments[name],
      (condition) => applies(query.schema, type, condition),
    );
    // Fields of one name are one field, whatever fragments they come from.
    for (const [key, same] of Map.groupBy(fields, responseName)) {
      this.#fields.push(new FieldPlan(query, type, key, same));
    }
  }

  /** Puts the fields of an object into `holder`, each as soon as it is there. */
  run(run: Run, source: unknown, holder: Holder, place: Place | undefined): void {
    for (const field of this.#fields) field.run(run, source, holder, place);
  }
}

/** Whether what is selected under a type condition is selected of objects of a type. */
function applies(schema: GraphQLSchema, type: GraphQLObjectType, condition: string): boolean {
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
  readonly #plain: { property: string; output: Output } | undefined;

  constructor(
    query: Selection,
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
    this.#plain =
      property !== undefined && isLeafType(nullableType)
        ? { property, output: outputOf(nullableType) }
        : undefined;
    this.#complete = completionOf(nullableType, {
      schema: query.schema,
      of: (selected) => new ObjectPlan(query, selected, sets),
    });
    this.#args = holdsVariables(node) ? undefined : getArgumentValues(definition, node);
  }

  run(run: Run, source: unknown, holder: Holder, parent: Place | undefined): void {
    if (this.#isPlainlyPut(source, holder)) return;
    const place = new FieldPlace(run, this, parent, holder);
    let value: unknown;
    try {
      value =
        this.#property === undefined
          ? this.definition.resolve?.(source, this.#argsIn(run, parent), run.context, place)
          : (source as Holder)[this.#property];
    } catch (error) {
      run.fail(error, place);
      return;
    }
    put(place, this.#complete, value);
  }

  /** Most values need no place of their own, as they are there and as they should be. */
  #isPlainlyPut(source: unknown, holder: Holder): boolean {
    if (this.#plain === undefined) return false;
    const value = (source as Holder | undefined)?.[this.#plain.property];
    const isNull = (value === null || value === undefined) && this.mayBeNull;
    const told = isNull ? null : plainLeaf(this.#plain.output, value);
    if (told !== undefined) holder[this.key] = told;
    return told !== undefined;
  }

  #argsIn(run: Run, parent: Place | undefined): object {
    if (this.#args !== undefined) return this.#args;
    const make = () => getArgumentValues(this.definition, this.nodes[0], run.variables);
    // Fields at the root are run once, so that nothing is gained by keeping their arguments.
    return parent === undefined ? make() : run.argsOf(this, make);
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
type Complete = (place: Place, value: unknown) => void;

/**
 * Puts whatever a resolver gave into its place; a promise once it is there. An error instance is the value's own error. It
 * makes no closures but for promises, as every value of an answer comes through here that is no plain one.
 */
function put(place: Place, complete: Complete, value: unknown): void {
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

function nullError({ parentType, definition }: SelectedField): Error {
  return new Error(`Cannot return null for non-nullable field ${parentType.name}.${definition.name}.`);
}

/** What completing goes by: the schema, and what is selected of a type. */
interface Selections {
  schema: GraphQLSchema;
  of(type: GraphQLObjectType): ObjectPlan;
}

/** How values of a type are completed. */
function completionOf(type: GraphQLNullableOutputType, selections: Selections): Complete {
  if (isLeafType(type)) return leaf(type);
  if (isListType(type)) return list(type, selections);
  if (isObjectType(type)) return object(selections.of(type));
  if (isAbstractType(type)) return abstract(type, selections);
  throw new Error(`${type} is no type of a field`);
}

/** How a leaf type gives out its values; throws for one that it can't give out. */
type Output = (value: unknown) => unknown;

/** A plain value of a leaf as clients get it; undefined where it is another, or one that can't be given out. */
function plainLeaf(output: Output, value: unknown): unknown {
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
