import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  type SourceLocation,
  valueFromASTUntyped,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';
import { isFitToCompile } from './compile-fitness.ts';
import { perDocument } from './documents/per-document.ts';

interface Compiled {
  run: CompiledQuery['query'];
  /** The default values of the variables. Compiled queries refuse one of a type like `Int! = 20` that is left out. */
  defaults: Record<string, unknown>;
}

/**
 * Runs queries as compiled functions, which costs a fraction of walking the document again for each request. Yoga's
 * own executor keeps mutations, and all that is not fit to be compiled. The schema has no @defer and no @stream.
 */
export function compiledQueries(): Plugin {
  const compiledByName = perDocument(() => new Map<string, Compiled | undefined>());

  return {
    onExecute({ args, setExecuteFn }) {
      const operation = getOperationAST(args.document, args.operationName);
      if (operation?.operation !== 'query') return;
      const query = compiledQuery(compiledByName(args.document), args.schema, args.document, operation);
      if (query === undefined) return;
      setExecuteFn(async () => {
        const variables = { ...query.defaults, ...args.variableValues };
        const result = await query.run(args.rootValue, args.contextValue, variables);
        if (result.errors === undefined) return result;
        // Without data nothing has run, as the variables don't fit: the request is at fault.
        const extensions = result.data === undefined ? { http: { status: 400 } } : undefined;
        return {
          ...result,
          errors: result.errors.map((error) => positioned(error, args.document, extensions)),
        };
      });
    },
  };
}

function compiledQuery(
  byName: Map<string, Compiled | undefined>,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Compiled | undefined {
  const name = operation.name?.value ?? '';
  if (!byName.has(name)) {
    const result = isFitToCompile(document, operation) ? compileQuery(schema, document, name) : undefined;
    byName.set(
      name,
      result !== undefined && isCompiledQuery(result)
        ? { run: result.query, defaults: defaultsOf(operation) }
        : undefined,
    );
  }
  return byName.get(name);
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
