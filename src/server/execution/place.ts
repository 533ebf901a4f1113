import type { GraphQLResolveInfo } from 'graphql';
import type { FieldPlan } from './plan.ts';
import type { Run } from './run.ts';

/** An object or a list of an answer. */
export type Holder = Record<string | number, unknown>;

/** Where a value stands in an answer. One that may not be null blanks what it belongs to, where it can't be given out. */
export interface Place {
  readonly run: Run;
  /** Whose value it is, or an item of it. */
  readonly field: FieldPlan;
  /** Of the object or list that it belongs to; undefined for the fields at the root. */
  readonly parent: Place | undefined;
  /** That object or list itself. */
  readonly holder: Holder;
  readonly key: string | number;
  readonly mayBeNull: boolean;
  /** What resolvers are told of the field. */
  readonly info: GraphQLResolveInfo;
}

/** The place of an item of a list. */
export class ItemPlace implements Place {
  readonly parent: Place;
  readonly holder: Holder;
  readonly key: number;
  readonly mayBeNull: boolean;

  constructor(parent: Place, holder: Holder, key: number, mayBeNull: boolean) {
    this.parent = parent;
    this.holder = holder;
    this.key = key;
    this.mayBeNull = mayBeNull;
  }

  get run() {
    return this.parent.run;
  }

  get field() {
    return this.parent.field;
  }

  get info() {
    return this.parent.info;
  }
}

/**
 * The place of a field's value, and what its resolver is told of the field: one object, as one is made for each value that
 * is not given out as it is, and read from where it is known, as hardly any resolver asks for it.
 */
export class FieldPlace implements Place, GraphQLResolveInfo {
  readonly run: Run;
  readonly field: FieldPlan;
  readonly parent: Place | undefined;
  readonly holder: Holder;

  constructor(run: Run, field: FieldPlan, parent: Place | undefined, holder: Holder) {
    this.run = run;
    this.field = field;
    this.parent = parent;
    this.holder = holder;
  }

  get key() {
    return this.field.key;
  }

  get mayBeNull() {
    return this.field.mayBeNull;
  }

  get info() {
    return this;
  }

  get fieldName() {
    return this.field.definition.name;
  }

  get fieldNodes() {
    return this.field.nodes;
  }

  get returnType() {
    return this.field.definition.type;
  }

  get parentType() {
    return this.field.parentType;
  }

  get path(): GraphQLResolveInfo['path'] {
    let path: GraphQLResolveInfo['path'] | undefined;
    for (const key of keysTo(this)) path = { prev: path, key, typename: undefined };
    // There is one key at least.
    return path as GraphQLResolveInfo['path'];
  }

  get schema() {
    return this.run.plan.schema;
  }

  get fragments() {
    return this.run.plan.fragments;
  }

  get rootValue() {
    return undefined;
  }

  get operation() {
    return this.run.plan.operation;
  }

  get variableValues() {
    return this.run.variables;
  }

  getAbortSignal(): undefined {}

  getAsyncHelpers(): never {
    throw new Error('Compiled queries have no helpers for work that nobody waits for');
  }
}

/** The keys that lead to a place, from the root. */
export function keysTo(place: Place): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

/**
 * Puts null in a place, or in that of the first thing around it that may be null.
 * @returns whether there was one.
 */
export function blank(place: Place): boolean {
  let at: Place | undefined = place;
  while (at !== undefined && !at.mayBeNull) at = at.parent;
  if (at !== undefined) at.holder[at.key] = null;
  return at !== undefined;
}

/** Whether something around a place has been blanked, so that what it holds is in no answer. */
export function isBelowBlank(place: Place): boolean {
  for (let { holder, parent } = place; parent !== undefined; { holder, parent } = parent) {
    if (parent.holder[parent.key] !== holder) return true;
  }
  return false;
}
