import {
  type ExecutionResult,
  type GraphQLError,
  type GraphQLResolveInfo,
  locatedError,
  type VariableValues,
} from 'graphql';
import { blank, type Holder, isBelowBlank, type Place, pathOf } from './place.ts';
import type { FieldPlan, QueryPlan } from './plan.ts';

/** One run of a query: the answer while it comes about, and what is still waited for. */
export class Run {
  readonly plan: QueryPlan;
  readonly context: object;
  readonly variables: VariableValues;
  readonly #data: Holder = {};
  #isBlank = false;
  #errors: GraphQLError[] | undefined;
  #waiting = 0;
  #end: ((result: ExecutionResult) => void) | undefined;
  /** By field, as its arguments are the same for all items of a list. */
  readonly #args = new Map<FieldPlan, object>();

  constructor(plan: QueryPlan, context: object, variables: VariableValues) {
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
  argsOf(field: FieldPlan, make: () => object): object {
    let args = this.#args.get(field);
    if (args === undefined) {
      args = make();
      this.#args.set(field, args);
    }
    return args;
  }

  /** Goes on with what a promise brings, while all else goes on. */
  wait(
    promise: PromiseLike<unknown>,
    take: (value: unknown) => void,
    failed: (error: unknown) => void,
  ): void {
    this.#waiting += 1;
    const leave = () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#end?.(this.#told());
    };
    promise.then(
      (value) => {
        // Whatever happens, or nobody would ever be answered.
        try {
          take(value);
        } catch (error) {
          failed(error);
        }
        leave();
      },
      (error: unknown) => {
        failed(error);
        leave();
      },
    );
  }

  /** Notes why a field's value can't be given out, and blanks its place. What is below a blank is of no interest any more. */
  fail(error: unknown, field: FieldPlan, place: Place): void {
    if (this.#isBlank || isBelowBlank(place)) return;
    this.#errors ??= [];
    this.#errors.push(locatedError(error, field.nodes, pathOf(place)));
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

/** What a resolver is told of its field: read from where it is known, as hardly any resolver asks for it. */
export class Info implements GraphQLResolveInfo {
  readonly #run: Run;
  readonly #field: FieldPlan;
  readonly #parent: Place | undefined;

  constructor(run: Run, field: FieldPlan, parent: Place | undefined) {
    this.#run = run;
    this.#field = field;
    this.#parent = parent;
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

  get path(): GraphQLResolveInfo['path'] {
    const keys = pathOf({ parent: this.#parent, holder: {}, key: this.#field.key, mayBeNull: true });
    let path: GraphQLResolveInfo['path'] | undefined;
    for (const key of keys) path = { prev: path, key, typename: undefined };
    // There is one key at least.
    return path as GraphQLResolveInfo['path'];
  }

  get schema() {
    return this.#run.plan.schema;
  }

  get fragments() {
    return this.#run.plan.fragments;
  }

  readonly rootValue = undefined;

  get operation() {
    return this.#run.plan.operation;
  }

  get variableValues() {
    return this.#run.variables;
  }

  getAbortSignal(): undefined {}

  getAsyncHelpers(): never {
    throw new Error('Compiled queries have no helpers for work that nobody waits for');
  }
}
