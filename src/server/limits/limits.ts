import { type ASTNode, GraphQLError } from 'graphql';

/**
 * The limits that are the same for every server. Without its limit, a document holds the event loop for more than 50 ms,
 * or makes more than 100 REST calls (test/api/documents/limits.test.ts).
 */
export const fixedLimits = {
  /** Tokens of a document. */
  tokens: 5_000,
  /** Nesting of fields, fragments expanded. Introspection does not count. */
  depth: 12,
  /** UTF-16 units of a document. An error computes its line and column from the whole text. */
  documentCharacters: 262_144,
  /** Fields and fragments of a document, fragments expanded. Validation walks them for each operation. */
  selections: 2_000,
  /** Fragment definitions of a document. Validation compares every pair. */
  fragments: 100,
  /** Repetitions of a field under one response name in one selection set. Validation compares every pair. */
  repeats: 50,
  /** Aliases of an operation, fragments expanded. Each is one more value in every row. */
  aliases: 30,
  /** Fields and items in all variables of an operation. An error prints the object around the value. */
  values: 10_000,
  /** Records that one operation may write: as many as a person confirms on one page. */
  writes: 100,
};

export type Limits = typeof fixedLimits & {
  /** The maximum number of objects in the response of an operation. */
  nodes: number;
};

/** The maximum number of errors in the response to a rejected request. Each error may quote the document. */
export const maxErrorsShown = 5;

// graphql-js reports too many tokens.
const descriptions: Record<Exclude<keyof Limits, 'tokens'>, [counted: string, advice: string]> = {
  documentCharacters: ['characters in the document', 'Send values as variables, and remove comments.'],
  depth: [
    'levels of nested fields, including fields in fragments',
    'Request the deeper objects by their ids in another operation.',
  ],
  selections: ['fields and fragments, including fields in fragments', 'Split the document into several.'],
  fragments: ['fragments in the document', 'Split the document into several.'],
  repeats: ['selections of the same field in the same object', 'Select the field once.'],
  aliases: ['aliases, including aliases in fragments', 'Split the operation into several.'],
  values: ['fields and list items in the variables', 'Split the operation into several.'],
  writes: ['records to write', 'Split the operation into several.'],
  nodes: [
    'objects that the operation may return',
    'Lower "first", nest fewer lists, or select each field once.',
  ],
};

/** The error for a limit that is exceeded. @param actual the number, or "more than …" if counting ended early. */
export function limitExceeded(
  limit: keyof typeof descriptions,
  allowed: number,
  actual: number | string,
  node?: ASTNode,
): GraphQLError {
  const [counted, advice] = descriptions[limit];
  const message = `The limit "${limit}" allows ${allowed}, but there are ${actual} ${counted}. ${advice}`;
  return limitError(message, node);
}

/** The error for a document or an operation that is too large. */
export function limitError(message: string, node: ASTNode | undefined): GraphQLError {
  const extensions = { code: 'GRAPHQL_LIMIT_EXCEEDED', http: { status: 400 } };
  return new GraphQLError(message, { nodes: node, extensions });
}
