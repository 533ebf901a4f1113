import type { DocumentNode, ExecutionResult, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { perOperation } from '../documents/per-operation.ts';
import { QueryPlan } from '../execution/plan.ts';
import type { RawVariables } from '../limits/variable-limits.ts';
import { isFitToCompile } from './compile-fitness.ts';
import type { Operation } from './operation.ts';

/** Runs a compiled query with its variables. `context` is what its resolvers are given. */
export type RunCompiled = (context: object) => ExecutionResult | Promise<ExecutionResult>;

/** A compiled query; undefined for variables that don't fit, of which the executor tells. */
export type CompiledQuery = (variables: RawVariables | undefined) => RunCompiled | undefined;

/**
 * Queries that are asked for again and again, as plans that are made once, which costs a fraction of walking the document
 * for each request. The executor keeps mutations, what is not fit to be compiled, and what has not been asked for often
 * enough. The schema has no @defer and no @stream.
 */
export interface CompiledQueries {
  /** Undefined where a query is not compiled, or not yet. */
  of(operation: Operation): CompiledQuery | undefined;
  /** The same, after counting one more use of it, with which it may be compiled. */
  use(operation: Operation): CompiledQuery | undefined;
}

/** A plan takes memory, and anybody can send documents like no other. */
const firstUseToCompile = 3;

/** `fromUse`: how often a query is asked for until it is compiled. */
export function createCompiledQueries(
  schema: GraphQLSchema,
  fromUse: number = firstUseToCompile,
): CompiledQueries {
  const knownOf = perOperation(() => ({ uses: 0, query: undefined as CompiledQuery | undefined }));
  return {
    of: ({ definition, document }) => knownOf(definition, document).query,
    use({ definition, document }) {
      const known = knownOf(definition, document);
      known.uses += 1;
      if (known.uses === fromUse) known.query = compiled(schema, document, definition);
      return known.query;
    },
  };
}

function compiled(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
): CompiledQuery | undefined {
  if (definition.operation !== 'query' || !isFitToCompile(document, definition)) return undefined;
  const plan = new QueryPlan(schema, document, definition);
  return (variables) => {
    const { variableValues } = plan.variablesOf(variables ?? {});
    return variableValues && ((context) => plan.run(context, variableValues));
  };
}
