import {
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  locatedError,
  type OperationDefinitionNode,
  type SourceLocation,
  type VariableValues,
} from 'graphql';
import { InvalidResponseError } from '../../rest/errors.ts';
import { createFastError } from './fast-error.ts';

/** For one outcome of @skip and @include. */
export interface OperationPlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  /** The fields of the operation's root type. */
  readonly root: ObjectPlan;
}

/** The fields to execute on objects of one type, with fragments expanded and fields merged. */
export interface ObjectPlan {
  readonly fields: readonly FieldPlan[];
  /** An empty object for the values of the fields. */
  createObject(): Container;
}

/** A field to execute on objects of one type. */
export interface FieldPlan {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  /** The response name. */
  readonly key: string;
  /** The selections of the field in the document, and where they are. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly locations: readonly SourceLocation[] | undefined;
  readonly isNullable: boolean;
  /** Puts the field's value into `object`, as soon as the value is available. */
  run(execution: Execution, source: unknown, object: Container, parent: ResponsePath | undefined): void;
}

/** One execution of an operation: the result so far, and the count of pending promises. */
export class Execution {
  readonly plan: OperationPlan;
  readonly context: object;
  readonly variables: VariableValues;
  readonly #data: Container;
  #isNull = false;
  #errors: GraphQLError[] | undefined;
  #pendingCount = 0;
  #onSettled: (() => void) | undefined;
  #calls: Map<FieldPlan, FieldCall> | undefined;

  constructor(plan: OperationPlan, context: object, variables: VariableValues) {
    this.plan = plan;
    this.context = context;
    this.variables = variables;
    this.#data = plan.root.createObject();
  }

  /** Runs the operation, once. The promise never rejects: failures are errors of the result. */
  run(): ExecutionResult | Promise<ExecutionResult> {
    const { root, operation } = this.plan;
    if (operation.operation === 'mutation') return this.#runSerially();
    for (const field of root.fields) field.run(this, undefined, this.#data, undefined);
    return this.#isSettled ? this.#toResult() : this.#settle().then(() => this.#toResult());
  }

  /** Runs the root fields of a mutation one after the other. */
  async #runSerially(): Promise<ExecutionResult> {
    for (const field of this.plan.root.fields) {
      field.run(this, undefined, this.#data, undefined);
      if (!this.#isSettled) await this.#settle();
      if (this.#isNull) break;
    }
    return this.#toResult();
  }

  get #isSettled(): boolean {
    return this.#pendingCount === 0 || this.#isNull;
  }

  /** Waits until no value is pending, or `data` is null: pending values can't change it then. */
  #settle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSettled = resolve;
    });
  }

  /** What the resolver of a field gets, computed once. @throws GraphQLError if an argument is invalid. */
  fieldCall(field: FieldPlan): FieldCall {
    let call = this.#calls?.get(field);
    if (call === undefined) {
      call = new FieldCall(this, field);
      this.#calls ??= new Map();
      this.#calls.set(field, call);
    }
    return call;
  }

  /** Calls `onValue` with the promise's value. A rejection, or an error of `onValue`, fails the field. */
  awaitValue(promise: Promise<unknown>, onValue: (value: unknown) => void, responsePath: ResponsePath): void {
    this.#pendingCount += 1;
    promise.then(
      (value) => {
        // An uncaught error would leave the count of pending promises above zero, and the result pending.
        try {
          onValue(value);
        } catch (error) {
          this.fail(error, responsePath);
        }
        this.#countSettled();
      },
      (error: unknown) => {
        this.fail(error, responsePath);
        this.#countSettled();
      },
    );
  }

  #countSettled(): void {
    this.#pendingCount -= 1;
    if (this.#pendingCount === 0) this.#onSettled?.();
  }

  /** Adds a field error, and propagates null from its path. Errors below an earlier propagated null are ignored. */
  fail(error: unknown, responsePath: ResponsePath): void {
    if (this.#isNull || isBelowNull(responsePath)) return;
    this.#errors ??= [];
    this.#errors.push(locate(error, responsePath));
    // Set even if null propagates further up: `isBelowNull` then detects pending values below this path.
    responsePath.container[responsePath.key] = null;
    if (propagateNull(responsePath)) return;
    this.#isNull = true;
    this.#onSettled?.();
  }

  #toResult(): ExecutionResult {
    const data = this.#isNull ? null : this.#data;
    return this.#errors === undefined ? { data } : { data, errors: this.#errors };
  }
}

/** An object or a list in the response. */
export type Container = Record<string | number, unknown>;

/** The location of a value in the response. A non-null field that fails propagates null to its parent. */
export class ResponsePath {
  readonly execution: Execution;
  /** The field of the value, also for list items. */
  readonly field: FieldPlan;
  /** The path of the container. Undefined for root fields. */
  readonly parent: ResponsePath | undefined;
  /** The object or list that holds the value under `key`. */
  readonly container: Container;
  readonly key: string | number;
  readonly isNullable: boolean;

  constructor(
    execution: Execution,
    field: FieldPlan,
    parent: ResponsePath | undefined,
    container: Container,
    key: string | number,
    isNullable: boolean,
  ) {
    this.execution = execution;
    this.field = field;
    this.parent = parent;
    this.container = container;
    this.key = key;
    this.isNullable = isNullable;
  }
}

const noArgs = Object.freeze(Object.create(null));

/**
 * The arguments of a field, and the `info` of its resolver. All items of a list share them, so there is no path. The other
 * members of `info` are getters, because few resolvers read them.
 */
class FieldCall implements GraphQLResolveInfo {
  readonly args: object;
  readonly rootValue = undefined;
  readonly #execution: Execution;
  readonly #field: FieldPlan;

  constructor(execution: Execution, field: FieldPlan) {
    this.#execution = execution;
    this.#field = field;
    const { definition, nodes } = field;
    this.args =
      definition.args.length > 0 ? getArgumentValues(definition, nodes[0], execution.variables) : noArgs;
  }

  get fieldName() {
    return this.#field.definition.name;
  }

  get fieldNodes() {
    return this.#field.nodes;
  }

  get returnType() {
    return this.#field.definition.type;
  }

  get parentType() {
    return this.#field.parentType;
  }

  get schema() {
    return this.#execution.plan.schema;
  }

  get fragments() {
    return this.#execution.plan.fragments;
  }

  get operation() {
    return this.#execution.plan.operation;
  }

  get variableValues() {
    return this.#execution.variables;
  }

  get path(): never {
    throw new Error('This executor does not support info.path');
  }

  getAbortSignal(): undefined {}

  getAsyncHelpers(): never {
    throw new Error('This executor does not support info.getAsyncHelpers()');
  }
}

/** The error of a value that does not fit its field. REST is to blame, because all values come from REST. */
export function unusableValue(responsePath: ResponsePath): InvalidResponseError {
  const path = pathKeys(responsePath).join('.');
  return new InvalidResponseError(`The REST service sent no valid value for the field at ${path}.`);
}

/** The error of a field, with the field's locations and path. */
function locate(error: unknown, responsePath: ResponsePath): GraphQLError {
  const { nodes, locations } = responsePath.field;
  const path = pathKeys(responsePath);
  // graphql-js keeps what its own errors tell of their place.
  if (!(error instanceof Error) || error instanceof GraphQLError) return locatedError(error, nodes, path);
  const { message } = error;
  return createFastError({ message, nodes, locations, path, originalError: error, extensions: {} });
}

/** The keys from the root to a location, as in the `path` of a GraphQL error. */
function pathKeys(responsePath: ResponsePath): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let current: ResponsePath | undefined = responsePath; current !== undefined; current = current.parent)
    keys.push(current.key);
  return keys.reverse();
}

/**
 * Sets null at a location, or at its nearest nullable ancestor.
 * @returns false if no location up to the root is nullable: `data` is null then.
 */
function propagateNull(responsePath: ResponsePath): boolean {
  let current: ResponsePath | undefined = responsePath;
  while (current !== undefined && !current.isNullable) current = current.parent;
  if (current !== undefined) current.container[current.key] = null;
  return current !== undefined;
}

/** Whether an ancestor of a location is null by propagation. The location is then not part of the response. */
function isBelowNull(responsePath: ResponsePath): boolean {
  for (let { container, parent } = responsePath; parent !== undefined; { container, parent } = parent) {
    if (parent.container[parent.key] !== container) return true;
  }
  return false;
}
