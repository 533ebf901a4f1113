// What an execution works on: the plan of an operation, and the result so far. run-field.ts has the steps, and
// executor.ts the whole course.

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
  getLocation,
  locatedError,
  type OperationDefinitionNode,
  type SourceLocation,
  type VariableValues,
} from 'graphql';
import { InvalidResponseError } from '../../rest/errors.ts';
import { createFastError } from './fast-error.ts';
import type { Serialize } from './leaf-values.ts';
import { maxResponseCharacters, ResponseTooLongError } from './response-size.ts';

/** What is executed for one outcome of the @skip and @include of an operation. */
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
  /** The characters of the fields in the response, without their texts. */
  readonly characters: number;
  /** Whether a response name is `__proto__`. Assigning to it sets the prototype of a plain object. */
  readonly hasPrototypeName: boolean;
}

/** A field to execute on objects of one type. */
export interface FieldPlan {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField;
  /** The response name. */
  readonly key: string;
  /** The selections of the field in the document. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  /** Set at the first error: finding the line reads the document, and thousands of errors may share the field. */
  locations: readonly SourceLocation[] | undefined;
  readonly isNullable: boolean;
  /** Whether the field is a write. Its result, also each item of a list, is never left out for its size. */
  readonly isWrite: boolean;
  /** Whether the field is the list of a connection. */
  readonly isPage: boolean;
  readonly complete: Complete;
  /** Undefined if the field has a resolver of its own. */
  readonly property: string | undefined;
  /** Set if the field is a property with a scalar or enum type. */
  readonly serialize: Serialize | undefined;
}

/** Completes a value that is neither a promise nor null nor an error, and sets it at its location. */
export type Complete = (responsePath: ResponsePath, value: unknown) => void;

/** An object or a list in the response. */
export type Container = Record<string | number, unknown>;

/** An empty object for the values of the fields. */
export function createObject({ hasPrototypeName }: ObjectPlan): Container {
  // Objects without a prototype are slower.
  return hasPrototypeName ? Object.create(null) : {};
}

/** The location of a value in the response. A non-null field that fails propagates null to its parent. */
export interface ResponsePath {
  readonly execution: Execution;
  /** The field of the value, also for list items. */
  readonly field: FieldPlan;
  /** The path of the container. Undefined for root fields. */
  readonly parent: ResponsePath | undefined;
  /** The object or list that holds the value under `key`. */
  readonly container: Container;
  readonly key: string | number;
  readonly isNullable: boolean;
}

/** One execution of an operation: the result so far, and the count of pending promises. */
export class Execution {
  readonly plan: OperationPlan;
  readonly context: object;
  readonly variables: VariableValues;
  /** Null once null has propagated to the root. */
  data: Container | null;
  /** The UTF-16 characters of the response so far, also of values that were left out again. */
  characters: number;
  #tooLong: ResponseTooLongError | undefined;
  readonly #errors: GraphQLError[] = [];
  #pendingCount = 0;
  #onSettled: (() => void) | undefined;
  readonly #calls = new Map<FieldPlan, FieldCall>();

  constructor(plan: OperationPlan, context: object, variables: VariableValues) {
    this.plan = plan;
    this.context = context;
    this.variables = variables;
    this.data = createObject(plan.root);
    this.characters = plan.root.characters;
  }

  get isTooLong(): boolean {
    return this.characters > maxResponseCharacters;
  }

  /** The error of each value that is left out because the response is too long. */
  tooLongError(): ResponseTooLongError {
    this.#tooLong ??= new ResponseTooLongError(this.characters);
    return this.#tooLong;
  }

  /** Resolves when no value is pending. Undefined if none is, or if `data` is null: pending values can't change it. */
  whenSettled(): Promise<void> | undefined {
    if (this.#pendingCount === 0 || this.data === null) return undefined;
    return new Promise((resolve) => {
      this.#onSettled = resolve;
    });
  }

  /** What the resolver of a field gets, computed once. @throws GraphQLError if an argument is invalid. */
  fieldCall(field: FieldPlan): FieldCall {
    const known = this.#calls.get(field);
    if (known !== undefined) return known;
    const call = createFieldCall(this, field);
    this.#calls.set(field, call);
    return call;
  }

  /** Calls `onValue`, which must not throw, with the promise's value. A rejection fails the field. */
  awaitValue(promise: Promise<unknown>, onValue: (value: unknown) => void, responsePath: ResponsePath): void {
    this.#pendingCount += 1;
    promise.then(
      (value) => {
        onValue(value);
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
    if (this.data === null || isBelowNull(responsePath)) return;
    this.#errors.push(locate(error, responsePath));
    // Set even if null propagates further up: `isBelowNull` then detects pending values below this path.
    responsePath.container[responsePath.key] = null;
    let nullable: ResponsePath | undefined = responsePath;
    while (nullable !== undefined && !nullable.isNullable) nullable = nullable.parent;
    if (nullable !== undefined) nullable.container[nullable.key] = null;
    else {
      this.data = null;
      this.#onSettled?.();
    }
  }

  toResult(): ExecutionResult {
    const data = this.data;
    return this.#errors.length === 0 ? { data } : { data, errors: this.#errors };
  }
}

/** The `info` of a resolver, with the arguments of its field. All items of a list share it, so it has no path. */
interface FieldCall extends GraphQLResolveInfo {
  readonly args: object;
}

const noArgs = Object.freeze(Object.create(null));

const noPath: GraphQLResolveInfo['path'] = {
  get key(): never {
    throw new Error('This executor does not support info.path');
  },
  prev: undefined,
  typename: undefined,
};

const noAbortSignal = () => undefined;

const noAsyncHelpers = (): never => {
  throw new Error('This executor does not support info.getAsyncHelpers()');
};

function createFieldCall({ plan, variables }: Execution, field: FieldPlan): FieldCall {
  const { definition, nodes, parentType } = field;
  return {
    args: definition.args.length > 0 ? getArgumentValues(definition, nodes[0], variables) : noArgs,
    fieldName: definition.name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType,
    path: noPath,
    schema: plan.schema,
    fragments: plan.fragments,
    rootValue: undefined,
    operation: plan.operation,
    variableValues: variables,
    getAbortSignal: noAbortSignal,
    getAsyncHelpers: noAsyncHelpers,
  };
}

/** The error of a value that does not fit its field. REST is to blame, because all values come from REST. */
export function unusableValue(responsePath: ResponsePath): InvalidResponseError {
  const path = pathKeys(responsePath).join('.');
  return new InvalidResponseError(`The REST service sent no valid value for the field at ${path}.`);
}

/** The error of a field, with the field's locations and path. */
function locate(error: unknown, responsePath: ResponsePath): GraphQLError {
  const { field } = responsePath;
  const { nodes } = field;
  const path = pathKeys(responsePath);
  // graphql-js keeps what its own errors tell of their place.
  if (!(error instanceof Error) || error instanceof GraphQLError) return locatedError(error, nodes, path);
  field.locations ??= nodes.flatMap(({ loc }) => (loc ? [getLocation(loc.source, loc.start)] : []));
  const { message } = error;
  const { locations } = field;
  return createFastError({ message, nodes, locations, path, originalError: error, extensions: {} });
}

/** The keys from the root to a location, as in the `path` of a GraphQL error. */
function pathKeys(responsePath: ResponsePath): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let current: ResponsePath | undefined = responsePath; current !== undefined; current = current.parent)
    keys.push(current.key);
  return keys.reverse();
}

/** Whether an ancestor of a location is null by propagation. The location is then not part of the response. */
function isBelowNull(responsePath: ResponsePath): boolean {
  for (let { container, parent } = responsePath; parent !== undefined; { container, parent } = parent) {
    if (parent.container[parent.key] !== container) return true;
  }
  return false;
}
