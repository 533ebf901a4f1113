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

/** An operation of a document. */
interface Known {
  /** How often it was asked for. */
  uses: number;
  /** Undefined where it is not compiled, or not yet. */
  compiled: Compiled | undefined;
}

/** What is asked for once or twice costs more to compile than it saves, and anybody can send documents like no other. */
const firstUseToCompile = 3;

/**
 * Runs queries as compiled functions, which costs a fraction of walking the document again for each request. Yoga's
 * own executor keeps mutations, what is not fit to be compiled, and what has not been asked for `fromUse` times yet. The
 * schema has no @defer and no @stream.
 */
export function compiledQueries(fromUse = firstUseToCompile): Plugin {
  const knownByName = perDocument(() => new Map<string, Known>());

  return {
    onExecute({ args, setExecuteFn }) {
      const operation = getOperationAST(args.document, args.operationName);
      if (operation?.operation !== 'query') return;
      const query = compiledQuery(knownByName(args.document), args.schema, args.document, operation, fromUse);
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
  byName: Map<string, Known>,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  fromUse: number,
): Compiled | undefined {
  const name = operation.name?.value ?? '';
  let known = byName.get(name);
  if (known === undefined) {
    known = { uses: 0, compiled: undefined };
    byName.set(name, known);
  }
  known.uses += 1;
  if (known.uses === fromUse && isFitToCompile(document, operation)) {
    const result = compileQuery(schema, document, name);
    if (isCompiledQuery(result)) known.compiled = { run: result.query, defaults: defaultsOf(operation) };
  }
  return known.compiled;
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
