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
import { createSelectionSizes, definitionsOf } from '../document-syntax/selections.ts';
import { ObjectPlan } from './object-plan.ts';
import { type ExecutablePlan, Execution } from './plan-execution.ts';

/**
 * A query that is planned once and executed many times. The query must have no directives, because @skip and @include
 * can change the selection with each execution. Reasons: docs/decisions/0001-compiled-query-plans.md.
 */
export class QueryPlan implements ExecutablePlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  readonly root: ObjectPlan;

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    this.schema = schema;
    this.operation = operation;
    this.fragments = Object.create(null);
    for (const definition of document.definitions) {
      if (definition.kind === 'FragmentDefinition') this.fragments[definition.name.value] = definition;
    }
    const type = schema.getRootType(operation.operation);
    if (type === undefined || type === null) throw new Error(`The schema has no ${operation.operation}`);
    this.root = new ObjectPlan(this, type, [operation.selectionSet]);
  }

  /** Coerces the values of variables. Returns the coerced values or the errors. */
  coerceVariables(values: Readonly<Record<string, unknown>>) {
    return getVariableValues(this.schema, this.operation.variableDefinitions ?? [], values);
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
    const plan = new QueryPlan(schema, document, definition);
    return (variables) => {
      const { variableValues } = plan.coerceVariables(variables ?? {});
      return variableValues && ((context) => plan.run(context, variableValues));
    };
  });
  return ({ definition, document }) => compiledQueryOf(definition, document);
}

// A plan expands every fragment, so its size must be bounded. Handwritten queries stay far below these bounds.
const maxSelections = 1_000;
const maxDepth = 20;

// Compiled queries assign fields to plain objects, where assigning to `__proto__` sets the prototype.
const prototypeAlias = '__proto__';

/**
 * Whether a query can be compiled. The query must have no directives, because @skip and @include can change the
 * selection with each run. Its size with fragments expanded is bounded. Its text must not contain `__proto__`.
 */
export function isCompilable(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (document.loc?.source.body.includes(prototypeAlias) !== false) return false;
  const { fragments } = definitionsOf(document);
  const size = createSelectionSizes((name) => fragments.get(name)).of(operation);
  const { selections, directives, depth, introspectionDepth } = size;
  return selections <= maxSelections && directives === 0 && Math.max(depth, introspectionDepth) <= maxDepth;
}
