import {
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  locatedError,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';

/** A field that is selected of objects of a type, as far as a run goes by it. */
export interface SelectedField {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  /** What it is called in the answer. */
  readonly key: string;
  /** Where it is selected. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly mayBeNull: boolean;
}

/** A query that is ready to be run. */
export interface ReadyQuery {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly root: {
    /** Puts the fields of the root into `holder`, each as soon as it is there. */
    run(run: Run, source: undefined, holder: Holder, place: undefined): void;
  };
}

/** One run of a query: the answer while it comes about, and what is still waited for. */
export class Run {
  readonly plan: ReadyQuery;
  readonly context: object;
  readonly variables: VariableValues;
  readonly #data: Holder = {};
  #isBlank = false;
  #errors: GraphQLError[] | undefined;
  #waiting = 0;
  #end: ((result: ExecutionResult) => void) | undefined;
  /** By field, as its arguments are the same for all items of a list. */
  #args: Map<SelectedField, object> | undefined;

  constructor(plan: ReadyQuery, context: object, variables: VariableValues) {
    this.plan = plan;
    this.context = context;
    this.variables = variables;
  }

  /** The answer, as soon as all of it is there. Never rejects. */
  result(): ExecutionResult | Promise<ExecutionResult> {
    this.plan.root.run(this, undefined, this.#data, undefined);
    if (this.#waiting === 0 || this.#isBlank) return this.#told();
    return new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The arguments of a field that has variables in them. @throws GraphQLError where one doesn't fit. */
  argsOf(field: SelectedField, make: () => object): object {
    let args = this.#args?.get(field);
    if (args === undefined) {
      args = make();
      this.#args ??= new Map();
      this.#args.set(field, args);
    }
    return args;
  }

  /** Goes on with what a promise brings, while all else goes on; where `take` throws, as where the promise fails. */
  wait(promise: Promise<unknown>, take: (value: unknown) => void, place: Place): void {
    this.#waiting += 1;
    promise.then(
      (value) => {
        // Whatever happens, or nobody would ever be answered.
        try {
          take(value);
        } catch (error) {
          this.fail(error, place);
        }
        this.#leave();
      },
      (error: unknown) => {
        this.fail(error, place);
        this.#leave();
      },
    );
  }

  #leave(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#end?.(this.#told());
  }

  /** Notes why a value can't be given out, and blanks its place. What is below a blank is of no interest any more. */
  fail(error: unknown, place: Place): void {
    if (this.#isBlank || isBelowBlank(place)) return;
    this.#errors ??= [];
    this.#errors.push(locatedError(error, place.field.nodes, keysTo(place)));
    // In its place among the others, where that is blanked which it belongs to, for what goes on there.
    place.holder[place.key] = null;
    if (blank(place)) return;
    this.#isBlank = true;
    // Nothing that is still waited for can add to it.
    this.#end?.(this.#told());
    this.#end = undefined;
  }

  #told(): ExecutionResult {
    const data = this.#isBlank ? null : this.#data;
    return this.#errors === undefined ? { data } : { data, errors: this.#errors };
  }
}

/** An object or a list of an answer. */
export type Holder = Record<string | number, unknown>;

/** Where a value stands in an answer. One that may not be null blanks what it belongs to, where it can't be given out. */
export interface Place {
  readonly run: Run;
  /** Whose value it is, or an item of it. */
  readonly field: SelectedField;
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
  readonly field: SelectedField;
  readonly parent: Place | undefined;
  readonly holder: Holder;

  constructor(run: Run, field: SelectedField, parent: Place | undefined, holder: Holder) {
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
