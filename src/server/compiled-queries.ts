import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  type SourceLocation,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';

/**
 * Runs queries as compiled functions, which costs a fraction of walking the document again for each request. Yoga's
 * own executor keeps mutations, and whatever does not compile. The schema has no @defer and no @stream.
 */
export function compiledQueries(): Plugin {
  // Documents come from Yoga's bounded cache; what that drops is collected here too.
  const compiled = new WeakMap<DocumentNode, Map<string, CompiledQuery | undefined>>();

  return {
    onExecute({ args, setExecuteFn }) {
      const operation = getOperationAST(args.document, args.operationName);
      if (operation?.operation !== 'query') return;
      const query = compiledQuery(compiled, args.schema, args.document, operation);
      if (query === undefined) return;
      setExecuteFn(async () => {
        const result = await query.query(args.rootValue, args.contextValue, args.variableValues);
        if (result.errors === undefined) return result;
        return { ...result, errors: result.errors.map((error) => positioned(error, args.document)) };
      });
    },
  };
}

function compiledQuery(
  compiled: WeakMap<DocumentNode, Map<string, CompiledQuery | undefined>>,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledQuery | undefined {
  const name = operation.name?.value ?? '';
  const byName = compiled.get(document) ?? new Map<string, CompiledQuery | undefined>();
  compiled.set(document, byName);
  if (!byName.has(name)) {
    const result = compileQuery(schema, document, name);
    byName.set(name, isCompiledQuery(result) ? result : undefined);
  }
  return byName.get(name);
}

/** Compiled queries give an error's locations alone; what is made of it further on needs source and positions. */
function positioned(error: GraphQLError, document: DocumentNode): GraphQLError {
  const source = document.loc?.source;
  if (source === undefined) return error;
  const { message, path, originalError } = error;
  const positions = error.locations?.map((location) => positionOf(source.body, location));
  return new GraphQLError(message, { source, positions, path, originalError });
}

/** The offset of a line and column, both counted from 1. */
function positionOf(text: string, { line, column }: SourceLocation): number {
  const lineStarts = [0, ...text.matchAll(/\r\n|[\n\r]/g).map((end) => end.index + end[0].length)];
  return (lineStarts[line - 1] ?? 0) + column - 1;
}
