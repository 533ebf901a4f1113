import { type ExecutionResult, type GraphQLError, locatedError, type VariableValues } from 'graphql';
import { blank, type Holder, isBelowBlank, keysTo, type Place } from './place.ts';
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
  #args: Map<FieldPlan, object> | undefined;

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
