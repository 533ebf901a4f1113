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
export interface ExecutablePlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly root: {
    /** Puts the fields of the root into `holder`, each as soon as it is there. */
    run(execution: Execution, source: undefined, container: Container, responsePath: undefined): void;
  };
}

/** One run of a query: the answer while it comes about, and what is still waited for. */
export class Execution {
  readonly plan: ExecutablePlan;
  readonly context: object;
  readonly variables: VariableValues;
  readonly #data: Container = {};
  #isNull = false;
  #errors: GraphQLError[] | undefined;
  #pendingCount = 0;
  #resolve: ((result: ExecutionResult) => void) | undefined;
  /** By field, as its arguments are the same for all items of a list. */
  #args: Map<SelectedField, object> | undefined;

  constructor(plan: ExecutablePlan, context: object, variables: VariableValues) {
    this.plan = plan;
    this.context = context;
    this.variables = variables;
  }

  /** The answer, as soon as all of it is there. Never rejects. */
  result(): ExecutionResult | Promise<ExecutionResult> {
    this.plan.root.run(this, undefined, this.#data, undefined);
    if (this.#pendingCount === 0 || this.#isNull) return this.#toResult();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** The arguments of a field that has variables in them. @throws GraphQLError where one doesn't fit. */
  argsOf(field: SelectedField, compute: () => object): object {
    let args = this.#args?.get(field);
    if (args === undefined) {
      args = compute();
      this.#args ??= new Map();
      this.#args.set(field, args);
    }
    return args;
  }

  /** Goes on with what a promise brings, while all else goes on; where `take` throws, as where the promise fails. */
  awaitValue(promise: Promise<unknown>, onValue: (value: unknown) => void, responsePath: ResponsePath): void {
    this.#pendingCount += 1;
    promise.then(
      (value) => {
        // Whatever happens, or nobody would ever be answered.
        try {
          onValue(value);
        } catch (error) {
          this.fail(error, responsePath);
        }
        this.#onSettled();
      },
      (error: unknown) => {
        this.fail(error, responsePath);
        this.#onSettled();
      },
    );
  }

  #onSettled(): void {
    this.#pendingCount -= 1;
    if (this.#pendingCount === 0) this.#resolve?.(this.#toResult());
  }

  /** Notes why a value can't be given out, and blanks its place. What is below a blank is of no interest any more. */
  fail(error: unknown, responsePath: ResponsePath): void {
    if (this.#isNull || isBelowNull(responsePath)) return;
    this.#errors ??= [];
    this.#errors.push(locatedError(error, responsePath.field.nodes, pathKeys(responsePath)));
    // In its place among the others, where that is blanked which it belongs to, for what goes on there.
    responsePath.container[responsePath.key] = null;
    if (propagateNull(responsePath)) return;
    this.#isNull = true;
    // Nothing that is still waited for can add to it.
    this.#resolve?.(this.#toResult());
    this.#resolve = undefined;
  }

  #toResult(): ExecutionResult {
    const data = this.#isNull ? null : this.#data;
    return this.#errors === undefined ? { data } : { data, errors: this.#errors };
  }
}

/** An object or a list of an answer. */
export type Container = Record<string | number, unknown>;

/** Where a value stands in an answer. One that may not be null blanks what it belongs to, where it can't be given out. */
export interface ResponsePath {
  readonly execution: Execution;
  /** Whose value it is, or an item of it. */
  readonly field: SelectedField;
  /** Of the object or list that it belongs to; undefined for the fields at the root. */
  readonly parent: ResponsePath | undefined;
  /** That object or list itself. */
  readonly container: Container;
  readonly key: string | number;
  readonly mayBeNull: boolean;
  /** What resolvers are told of the field. */
  readonly info: GraphQLResolveInfo;
}

/** The place of an item of a list. */
export class ItemPath implements ResponsePath {
  readonly parent: ResponsePath;
  readonly container: Container;
  readonly key: number;
  readonly mayBeNull: boolean;

  constructor(parent: ResponsePath, container: Container, key: number, mayBeNull: boolean) {
    this.parent = parent;
    this.container = container;
    this.key = key;
    this.mayBeNull = mayBeNull;
  }

  get execution() {
    return this.parent.execution;
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
export class FieldPath implements ResponsePath, GraphQLResolveInfo {
  readonly execution: Execution;
  readonly field: SelectedField;
  readonly parent: ResponsePath | undefined;
  readonly container: Container;

  constructor(
    execution: Execution,
    field: SelectedField,
    parent: ResponsePath | undefined,
    container: Container,
  ) {
    this.execution = execution;
    this.field = field;
    this.parent = parent;
    this.container = container;
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
    for (const key of pathKeys(this)) path = { prev: path, key, typename: undefined };
    // There is one key at least.
    return path as GraphQLResolveInfo['path'];
  }

  get schema() {
    return this.execution.plan.schema;
  }

  get fragments() {
    return this.execution.plan.fragments;
  }

  get rootValue() {
    return undefined;
  }

  get operation() {
    return this.execution.plan.operation;
  }

  get variableValues() {
    return this.execution.variables;
  }

  getAbortSignal(): undefined {}

  getAsyncHelpers(): never {
    throw new Error('Compiled queries have no helpers for work that nobody waits for');
  }
}

/** The keys that lead to a place, from the root. */
export function pathKeys(responsePath: ResponsePath): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let current: ResponsePath | undefined = responsePath; current !== undefined; current = current.parent)
    keys.push(current.key);
  return keys.reverse();
}

/**
 * Puts null in a place, or in that of the first thing around it that may be null.
 * @returns whether there was one.
 */
export function propagateNull(responsePath: ResponsePath): boolean {
  let current: ResponsePath | undefined = responsePath;
  while (current !== undefined && !current.mayBeNull) current = current.parent;
  if (current !== undefined) current.container[current.key] = null;
  return current !== undefined;
}

/** Whether something around a place has been blanked, so that what it holds is in no answer. */
export function isBelowNull(responsePath: ResponsePath): boolean {
  for (let { container, parent } = responsePath; parent !== undefined; { container, parent } = parent) {
    if (parent.container[parent.key] !== container) return true;
  }
  return false;
}
