import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SourceLocation,
  valueFromASTUntyped,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { perOperation } from '../documents/per-document.ts';
import { isFitToCompile } from './compile-fitness.ts';
import type { Operation } from './operation.ts';

/** Runs a query as a compiled function. `context` is what its resolvers are given. */
export type RunCompiled = (
  operation: Operation,
  context: object,
) => ExecutionResult | Promise<ExecutionResult>;

/**
 * Queries as compiled functions, which costs a fraction of walking the document again for each request. The executor keeps
 * mutations, what is not fit to be compiled, and what has not been asked for often enough. The schema has no @defer and no
 * @stream.
 */
export interface CompiledQueries {
  /** Undefined where a query is not compiled, or not yet. */
  of(operation: Operation): RunCompiled | undefined;
  /** The same, after counting one more use of it, with which it may be compiled. */
  use(operation: Operation): RunCompiled | undefined;
}

/** What is asked for once or twice costs more to compile than it saves, and anybody can send documents like no other. */
const firstUseToCompile = 3;

/** `fromUse`: how often a query is asked for until it is compiled. */
export function createCompiledQueries(
  schema: GraphQLSchema,
  fromUse: number = firstUseToCompile,
): CompiledQueries {
  const knownOf = perOperation(() => ({ uses: 0, run: undefined as RunCompiled | undefined }));
  return {
    of: ({ definition, document }) => knownOf(definition, document).run,
    use({ definition, document }) {
      const known = knownOf(definition, document);
      known.uses += 1;
      if (known.uses === fromUse) known.run = compiled(schema, document, definition);
      return known.run;
    },
  };
}

function compiled(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
): RunCompiled | undefined {
  if (definition.operation !== 'query' || !isFitToCompile(document, definition)) return undefined;
  const query = compileQuery(schema, document, definition.name?.value ?? '');
  return isCompiledQuery(query) ? runner(query, definition) : undefined;
}

function runner({ query }: CompiledQuery, definition: OperationDefinitionNode): RunCompiled {
  // Compiled queries refuse a variable of a type like `Int! = 20` that is left out.
  const defaults = defaultsOf(definition);
  const told = (result: ExecutionResult, document: DocumentNode): ExecutionResult => {
    if (result.errors === undefined) return result;
    // Without data nothing has run, as the variables don't fit: the request is at fault.
    const extensions = result.data === undefined ? { http: { status: 400 } } : undefined;
    return { ...result, errors: result.errors.map((error) => positioned(error, document, extensions)) };
  };
  return ({ document, variables }, context) => {
    const result = query(undefined, context, { ...defaults, ...variables });
    return 'then' in result ? result.then((late) => told(late, document)) : told(result, document);
  };
}

/** The default values as a client would send them. */
function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Record<string, unknown> {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
}

/** Compiled queries give an error's locations alone; what is made of it further on needs source and positions. */
function positioned(
  error: GraphQLError,
  document: DocumentNode,
  extensions: { http: { status: number } } | undefined,
): GraphQLError {
  const source = document.loc?.source;
  if (source === undefined) return error;
  const { message, path, originalError } = error;
  const positions = error.locations?.map((location) => positionOf(source.body, location));
  return new GraphQLError(message, { source, positions, path, originalError, extensions });
}

/** The offset of a line and column, both counted from 1. */
function positionOf(text: string, { line, column }: SourceLocation): number {
  const lineStarts = [0, ...text.matchAll(/\r\n|[\n\r]/g).map((end) => end.index + end[0].length)];
  return (lineStarts[line - 1] ?? 0) + column - 1;
}
