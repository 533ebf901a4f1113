import type { DocumentNode, ExecutionResult, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { perOperation } from '../documents/per-operation.ts';
import { QueryPlan } from '../execution/query-plan.ts';
import { createSelectionSizes, definitionsOf } from '../limits/selections.ts';
import type { RawVariables } from '../limits/variable-limits.ts';
import type { Operation } from './operation-request.ts';

/** Runs a compiled query with its variables. `context` is what its resolvers are given. */
export type RunCompiled = (context: object) => ExecutionResult | Promise<ExecutionResult>;

/** A compiled query. Undefined for variables that don't fit: the executor says what is wrong with them. */
export type CompiledQuery = (variables: RawVariables | undefined) => RunCompiled | undefined;

/** The compiled query of an operation. Undefined for mutations and for queries that are not fit to be compiled. */
export type CompiledQueries = (operation: Operation) => CompiledQuery | undefined;

/**
 * Compiles each query at its first use, and keeps the plan as long as its document is known. Compiling and one run take
 * no more time than one run of the executor, so a document that is sent once loses nothing. The schema has no @defer and
 * no @stream.
 */
export function createCompiledQueries(schema: GraphQLSchema): CompiledQueries {
  const compiledQueryOf = perOperation((definition, document): CompiledQuery | undefined => {
    if (definition.operation !== 'query' || !isFitToCompile(document, definition)) return undefined;
    const plan = new QueryPlan(schema, document, definition);
    return (variables) => {
      const { variableValues } = plan.variablesOf(variables ?? {});
      return variableValues && ((context) => plan.run(context, variableValues));
    };
  });
  return ({ definition, document }) => compiledQueryOf(definition, document);
}

// Far beyond what people write. A plan holds the selections with every fragment spread out.
const maxSelections = 1_000;
const maxDepth = 20;

// Compiled queries assign what a field gives to a plain object, where this is no name like others.
const prototypeAlias = '__proto__';

/**
 * Whether a query may run compiled: it has no directive, as conditions would make each run another query, and it is small
 * enough, fragments spread out. A text that may have the unfit alias is left to the executor.
 */
export function isFitToCompile(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (document.loc?.source.body.includes(prototypeAlias) !== false) return false;
  const { fragments } = definitionsOf(document);
  const size = createSelectionSizes((name) => fragments.get(name)).of(operation);
  const { selections, directives, depth, introspectionDepth } = size;
  return selections <= maxSelections && directives === 0 && Math.max(depth, introspectionDepth) <= maxDepth;
}
