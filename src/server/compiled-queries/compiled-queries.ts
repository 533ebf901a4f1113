import {
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import type { Operation, RawVariables } from '../document-syntax/operation.ts';
import { perOperation } from '../document-syntax/operation-memo.ts';
import { collectDefinitions, createSelectionSizes } from '../document-syntax/selections.ts';
import { conditionVariablesOf, withoutConditions } from './conditions.ts';
import { ObjectPlan } from './object-plan.ts';
import { type ExecutablePlan, Execution } from './plan-execution.ts';

/**
 * A query that is planned once and executed many times. The query must have no directives: each outcome of its @skip
 * and @include has a plan of its own. Reasons: docs/decisions/0001-compiled-query-plans.md.
 */
export class QueryPlan implements ExecutablePlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly root: ObjectPlan;

  constructor(
    schema: GraphQLSchema,
    operation: OperationDefinitionNode,
    fragments: Iterable<FragmentDefinitionNode>,
  ) {
    this.schema = schema;
    this.operation = operation;
    this.fragments = Object.create(null);
    for (const fragment of fragments) this.fragments[fragment.name.value] = fragment;
    const type = schema.getRootType(operation.operation);
    if (type === undefined || type === null) throw new Error(`The schema has no ${operation.operation}`);
    this.root = new ObjectPlan(this, type, [operation.selectionSet]);
  }

  /** Executes the query with coerced variables. `context` is the context value of the resolvers. */
  run(context: object, variables: VariableValues) {
    return new Execution(this, context, variables).result();
  }
}

/** Runs a compiled query with its variables. `context` is the context value of the resolvers. */
export type RunCompiled = (context: object) => ExecutionResult | Promise<ExecutionResult>;

/** A compiled query. Returns undefined for invalid variables: the default executor then reports the errors. */
export type CompiledQuery = (variables: RawVariables | undefined) => RunCompiled | undefined;

/** Returns the compiled query of an operation. Undefined for mutations and for queries that can't be compiled. */
export type CompiledQueries = (operation: Operation) => CompiledQuery | undefined;

/**
 * Compiles each query at its first use, and keeps the plan while its document is cached. Compiling plus one run takes
 * no longer than one run of graphql-js. The schema has no @defer and no @stream, so plans do without them.
 * Reasons: docs/decisions/0001-compiled-query-plans.md.
 */
export function createCompiledQueries(schema: GraphQLSchema): CompiledQueries {
  const compiledQueryOf = perOperation((definition, document): CompiledQuery | undefined => {
    if (definition.operation !== 'query' || !isCompilable(document, definition)) return undefined;
    const planOf = createPlans(schema, document, definition);
    return (variables = {}) => {
      const { variableValues } = getVariableValues(schema, definition.variableDefinitions ?? [], variables);
      const plan = variableValues && planOf(variableValues.coerced);
      return plan && ((context) => plan.run(context, variableValues));
    };
  });
  return ({ definition, document }) => compiledQueryOf(definition, document);
}

// The outcomes of two conditions. Plans of further outcomes are not kept: to plan costs no more than to run.
const maxPlans = 4;

/** The plans of a query: one for each outcome of its @skip and @include. Undefined if a condition is not a boolean. */
function createPlans(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): (variables: Readonly<Record<string, unknown>>) => QueryPlan | undefined {
  const fragments = [...collectDefinitions(document).fragments.values()];
  const declared = new Set(operation.variableDefinitions?.map(({ variable }) => variable.name.value));
  // The other variables belong to other operations of the document.
  const names = conditionVariablesOf(document).filter((name) => declared.has(name));
  const plans = new Map<string, QueryPlan>();
  return (variables) => {
    const values = new Map<string, boolean>();
    for (const name of names) {
      const value = variables[name];
      if (typeof value !== 'boolean') return undefined;
      values.set(name, value);
    }
    const outcome = [...values.values()].join();
    let plan = plans.get(outcome);
    if (plan === undefined) {
      plan = new QueryPlan(
        schema,
        withoutConditions(operation, values),
        fragments.map((fragment) => withoutConditions(fragment, values)),
      );
      if (plans.size < maxPlans) plans.set(outcome, plan);
    }
    return plan;
  };
}

// A plan expands every fragment, so its size must be bounded. Handwritten queries stay far below these bounds.
const maxSelections = 1_000;
const maxDepth = 20;

// Compiled queries assign fields to plain objects, where assigning to `__proto__` sets the prototype.
const prototypeAlias = '__proto__';

/**
 * Whether a query can be compiled. Its size with fragments expanded is bounded. Its text must not contain `__proto__`.
 */
export function isCompilable(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (document.loc?.source.body.includes(prototypeAlias) !== false) return false;
  const { fragments } = collectDefinitions(document);
  const size = createSelectionSizes((name) => fragments.get(name)).of(operation);
  return size.selections <= maxSelections && Math.max(size.depth, size.introspectionDepth) <= maxDepth;
}
